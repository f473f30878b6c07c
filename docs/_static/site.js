// A formula that scrolls can be reached and moved with the keyboard.
function reachable() {
  for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
    if (formula.scrollWidth > formula.clientWidth) {
      formula.tabIndex = 0;
    } else {
      formula.removeAttribute("tabindex");
    }
  }
}

window.addEventListener("load", () => {
  const typeset = window.MathJax?.startup?.promise;
  if (typeset) {
    typeset.then(reachable);
    window.addEventListener("resize", reachable);
  }
});
