import { h } from '../shared/dom'

/** A live region that announces results to screen readers, even if the text is the same as before. */
const region = h('p', { role: 'status', class: 'unseen' })

async function copy(text: string): Promise<void> {
  // Without TLS, browsers give pages no clipboard.
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  )
  region.textContent = ''
  setTimeout(() => {
    region.textContent = isCopied
      ? 'Copied'
      : 'Not copied, because this page cannot use the clipboard. Select the text and copy it.'
  })
}

/** The pages are complete without this script, which adds copying (docs/operating.md 5.5). */
document.querySelector('main')?.append(region)
for (const label of document.querySelectorAll('p.lang')) {
  const code = label.nextElementSibling
  if (code?.tagName === 'PRE') {
    const click = () => void copy(code.textContent ?? '')
    label.append(' ', h('button', { type: 'button', class: 'copy', click }, 'Copy'))
  }
}
document.documentElement.dataset.ready = 'true'
