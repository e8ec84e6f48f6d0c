// @ts-check
/** Pictures in a trial's texts: ``![what it shows](data:image/png;base64,...)``. */

const PICTURE = /!\[((?:(?!!\[)[^\]])*)\]\((data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\)/g;

/**
 * Replaces a text's pictures by their alternative texts, for screen readers.
 * @param {string} text
 */
export const toSpokenText = (text) => text.replace(PICTURE, (_, words) => words);

/**
 * Removes a text's pictures.
 * @param {string} text
 */
export const removePictures = (text) => text.replace(PICTURE, "");

/**
 * Puts a text into an element, with its pictures below it.
 * @param {HTMLElement} container
 * @param {string} text
 * @returns {HTMLElement[]} The pictures.
 */
export function setTextWithPictures(container, text) {
  container.textContent = removePictures(text);
  const pictures = [...text.matchAll(PICTURE)].map(([, alt, src]) => {
    const picture = new Image();
    Object.assign(picture, { alt, className: "picture", decoding: "sync", draggable: false, src });
    return picture;
  });
  container.append(...pictures);
  return pictures;
}
