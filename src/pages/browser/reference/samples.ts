import { h } from '../shared/dom'

const LANGUAGES = ['curl', 'TypeScript', 'Python']

type Choice = { tab: HTMLButtonElement; panel: HTMLElement }

/** The samples of each call as tabs. Whoever chooses a language chooses it for the whole page. */
export function withTabs(): void {
  const announce = announcer()
  const groups: Choice[][] = []
  const choose = (at: number) => {
    for (const group of groups) {
      for (const [place, { tab, panel }] of group.entries()) {
        tab.setAttribute('aria-selected', String(place === at))
        tab.tabIndex = place === at ? 0 : -1
        panel.hidden = place !== at
      }
    }
  }
  for (const [number, first] of [...document.querySelectorAll('p.lang')].entries()) {
    if (first.textContent !== LANGUAGES[0]) copyable(first, announce)
    else {
      const { row, group } = groupAt(first, number, choose)
      groups.push(group)
      row.append(copyButton(() => group.find(({ panel }) => !panel.hidden)?.panel ?? null, announce))
    }
  }
  choose(0)
}

/** The tabs of the samples that begin with `first`, and the row above them. */
function groupAt(first: Element, number: number, choose: (at: number) => void): { row: HTMLElement; group: Choice[] } {
  const labels: Element[] = []
  for (let at: Element | null = first; at && LANGUAGES.includes(at.textContent ?? ''); at = at.nextElementSibling) {
    labels.push(at)
    at = at.nextElementSibling!
  }
  const list = h('div', { role: 'tablist', 'aria-label': 'Language of the sample', class: 'tabs' })
  const group = labels.map((label, place): Choice => {
    const panel = label.nextElementSibling as HTMLElement
    const ids = { tab: `tab-${number}-${place}`, panel: `sample-${number}-${place}` }
    const tab = h(
      'button',
      { type: 'button', role: 'tab', id: ids.tab, 'aria-controls': ids.panel, click: () => choose(place) },
      label.textContent,
    )
    panel.id = ids.panel
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', ids.tab)
    return { tab, panel }
  })
  list.addEventListener('keydown', ({ key }) => {
    const at = group.findIndex(({ tab }) => tab === document.activeElement)
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
    if (!step || at < 0) return
    const next = (at + step + group.length) % group.length
    choose(next)
    group[next]!.tab.focus()
  })
  list.append(...group.map(({ tab }) => tab))
  const row = h('div', { class: 'row' }, list)
  first.before(row)
  for (const label of labels) label.remove()
  return { row, group }
}

type Announce = (text: string) => void

/** Says a word to screen readers in one live region of the page, again also when it is the same word. */
function announcer(): Announce {
  const region = h('p', { role: 'status', class: 'unseen' })
  document.querySelector('main')?.append(region)
  return (text) => {
    region.textContent = ''
    setTimeout(() => {
      region.textContent = text
    })
  }
}

function copyable(label: Element, announce: Announce): void {
  const code = label.nextElementSibling
  if (code?.tagName === 'PRE')
    label.append(
      ' ',
      copyButton(() => code, announce),
    )
}

const copyButton = (shown: () => Element | null, announce: Announce): HTMLButtonElement =>
  h(
    'button',
    {
      type: 'button',
      class: 'copy',
      click: async () => {
        const text = shown()?.textContent ?? ''
        // Without TLS browsers have no clipboard for pages.
        const copied = await navigator.clipboard?.writeText(text).then(
          () => true,
          () => false,
        )
        announce(
          copied ? 'Copied' : 'Not copied, because this page cannot use the clipboard. Select the text and copy it.',
        )
      },
    },
    'Copy',
  )
