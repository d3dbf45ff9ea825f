/**
 * Scalar's lighter greys are too faint to read on its own backgrounds (WCAG 1.4.3); unseen words widen the page (1.4.10).
 * Links to the vendor are no part of the reference.
 */
export const READABLE = `
.light-mode{--scalar-color-2:#4d4d4d;--scalar-color-3:#595959;--scalar-color-ghost:#595959;--scalar-sidebar-color-2:#4d4d4d;
--scalar-color-green:#04663b;--scalar-color-blue:#0a4f9e;--scalar-color-orange:#8a3b00;--scalar-color-red:#a3132a;--scalar-color-yellow:#6b5000;--scalar-color-purple:#5b2c98}
.screenreader-only{left:0!important}a[href*="scalar.com"]{display:none}@media(max-width:600px){body>*{overflow-x:clip}}
.dark-mode{--scalar-color-2:#c9c9c9;--scalar-color-3:#b8b8b8;--scalar-color-ghost:#b8b8b8;--scalar-sidebar-color-2:#c9c9c9}`

/**
 * What Scalar's elements lack for screen readers, mended in the page. It draws them anew while it is used, so whatever
 * changes is looked at again.
 */
export const MEND = `(()=>{
const each=(where,mend)=>document.querySelectorAll(where).forEach(mend)
const mend=()=>{
each('button[aria-selected]:not([role])',(one)=>{if(one.getAttribute('aria-selected')==='true')one.setAttribute('aria-current','true');else one.removeAttribute('aria-current');one.removeAttribute('aria-selected')})
each('aside[role=navigation],button[role=search]',(one)=>one.removeAttribute('role'))
each('[role=tablist] button:not([role=tab])',(one)=>one.setAttribute('role','tab'))
each('button.show-more[aria-label]',(one)=>one.removeAttribute('aria-label'))
each('button.client-libraries__select:not([aria-label])',(one)=>one.setAttribute('aria-label','More clients'))
each('ul.endpoints:not([tabindex])',(one)=>{one.tabIndex=0})
each('button [tabindex="0"]',(one)=>one.removeAttribute('tabindex'))
}
let waits=0
new MutationObserver(()=>{waits||=setTimeout(()=>{waits=0;mend()},100)}).observe(document.documentElement,{childList:true,subtree:true,attributes:true,attributeFilter:['aria-selected','role','aria-label']})
})()`
