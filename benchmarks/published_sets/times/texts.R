# The texts of Witzel et al. (2012) with the labels of Boyce et al. (2020): TIMES LABELS OUT NAMED.
# TIMES: what `parallax reading import dmdx` wrote; LABELS: an .rds of vboyce/Maze. A sentence is known by its words.
# NAMED: "words" where the critical region may be two words, then it is named by them; else by number.
arguments <- commandArgs(trailingOnly = TRUE)
times <- read.delim(arguments[1], quote = "", colClasses = "character")
words <- unique(times[, c("text_id", "position", "text")])
words <- words[order(words$text_id, as.integer(words$position)), ]
sentences <- aggregate(text ~ text_id, words, paste, collapse = " ")
labels <- as.data.frame(readRDS(arguments[2]))
critical <- labels[labels$mod_word_number == 0, c("item_num", "type", "sentence", "word_num", "word")]
critical <- critical[!duplicated(critical$sentence), ]
texts <- merge(sentences, critical, by.x = "text", by.y = "sentence")
named <- texts$word_num + 1
if (arguments[4] == "words") {
  second <- labels[labels$mod_word_number == 1 & labels$multi_word == "yes", ]
  found <- match(paste(texts$item_num, texts$type), paste(second$item_num, second$type))
  named <- ifelse(is.na(found), as.character(texts$word), paste(texts$word, second$word[found]))
}
written <- data.frame(text_id = texts$text_id, item = texts$item_num, condition = texts$type, critical = named)
write.csv(written, arguments[3], row.names = FALSE)
