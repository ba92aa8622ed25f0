"use strict";
// What the address names is opened, and all that it lies in; nothing is ever closed. On paper everything is open.
(() => {
  const open = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
  };
  const follow = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* Not an address of ours. */ }
    const target = name && document.getElementById(name);
    if (!target) return;
    open(target);
    target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", follow);
  // A second click on the same link changes no address.
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) {
      closed.push(one);
      one.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const one of closed.splice(0)) one.open = false;
  });
  follow();
})();
