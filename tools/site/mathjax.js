// Formulas are set by MathJax: the elements that pymdownx.arithmatex marks, nothing else. Without a network they stay TeX.
window.MathJax = {
  tex: { inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]] },
  options: { ignoreHtmlClass: ".*|", processHtmlClass: "arithmatex" },
};
