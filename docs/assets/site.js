// Marks tables and code that are wider than their place, so that site.css can say so, and the keyboard can scroll them.
(() => {
  const mark = () => {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("scrolls", scrolls);
      scrolls ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", () => {
    mark();
    new ResizeObserver(mark).observe(document.querySelector(".md-content") ?? document.body);
  });
})();
