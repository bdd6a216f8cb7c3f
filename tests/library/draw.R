# draw.c in R: Rscript draw.R draw_r.so
dyn.load(commandArgs(trailingOnly = TRUE)[1])
for (line in readLines(file("stdin"))) {
  words <- strsplit(line, " ")[[1]]
  bytes <- raw(0)
  if (length(words) == 8) { # otherwise the draws read no bytes
    starts <- seq(1, nchar(words[8]), by = 2)
    bytes <- as.raw(strtoi(substring(words[8], starts, starts + 1), 16))
  }
  drawn <- .Call("draw_in_r", words[1], words[2], words[3], words[4:6], bytes)
  cat(sprintf("%.0f", drawn), sep = "\n")
}
