// A table wider than its page scrolls: give it a tab stop, so that a keyboard is enough to read it (WCAG 2 A, 2.1.1).
document$.subscribe(() => {
  requestAnimationFrame(() => {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
  });
});
