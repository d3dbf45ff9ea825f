/**
 * Fixes the viewer's elements for screen readers, and removes the short reference once the viewer is drawn. The viewer
 * redraws its elements during use, so changes are checked again.
 */
function repair(): void {
  const each = (where: string, change: (one: HTMLElement) => void) =>
    document.querySelectorAll<HTMLElement>(where).forEach(change)
  each('button[aria-selected]:not([role])', (one) => {
    if (one.getAttribute('aria-selected') === 'true') one.setAttribute('aria-current', 'true')
    else one.removeAttribute('aria-current')
    one.removeAttribute('aria-selected')
  })
  // The headings of groups of tags.
  each('div[aria-selected]:not([role])', (one) => one.removeAttribute('aria-selected'))
  each('aside[role=navigation],button[role=search]', (one) => one.removeAttribute('role'))
  each('[role=tablist] button:not([role=tab])', (one) => one.setAttribute('role', 'tab'))
  each('button.show-more[aria-label]', (one) => one.removeAttribute('aria-label'))
  each('button.client-libraries__select:not([aria-label])', (one) => one.setAttribute('aria-label', 'More clients'))
  each('ul.endpoints:not([tabindex]),code.hljs:not([tabindex])', (one) => one.setAttribute('tabindex', '0'))
  each('button [tabindex="0"]', (one) => one.removeAttribute('tabindex'))
  if (document.querySelector('.references-rendered h1')) document.getElementById('start')?.remove()
}

let isWaiting = false
new MutationObserver(() => {
  if (isWaiting) return
  isWaiting = true
  setTimeout(() => {
    isWaiting = false
    repair()
  }, 100)
}).observe(document.documentElement, {
  childList: true,
  subtree: true,
  attributes: true,
  attributeFilter: ['aria-selected', 'role', 'aria-label'],
})
