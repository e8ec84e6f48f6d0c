// @ts-check
/** The window's title says which page of the study is shown, as the page's heading does. */

let study = "";

/** Takes the title that a page came with. */
export function openTitle() {
  study = document.title;
  entitle();
}

/** Says in the title which part of the page is shown. */
export function entitle() {
  const heading = document.querySelector("main h1:not([hidden] *)")?.textContent?.trim();
  document.title = heading && !study.startsWith(heading) ? `${heading} - ${study}` : study;
}
