import { h } from '../shared/dom'

/** Says a word to screen readers, again also when it is the same word. */
export type Announce = (text: string) => void

/** One live region for the page. */
export function announcer(): Announce {
  const region = h('p', { role: 'status', class: 'unseen' })
  document.querySelector('main')?.append(region)
  return (text) => {
    region.textContent = ''
    setTimeout(() => {
      region.textContent = text
    })
  }
}
