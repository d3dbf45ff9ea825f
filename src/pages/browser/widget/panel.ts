import { h, ICONS, icon, setText } from '../shared/dom'
import { launcherOf } from './launcher'
import type { PublicConfig } from './wire'
import { WORDS } from './words'

type Actions = { open(): void; close(): void; menu: { label: string; run(): void }[] }

export type Panel = ReturnType<typeof createPanel>

/** The launcher and the panel: the permanent elements, with slots for changing content. */
export function createPanel(config: PublicConfig, { open, close, menu }: Actions) {
  const { appearance } = config
  const title = appearance.title || WORDS.title
  const count = h('span', { class: 'count', hidden: true })
  const launcher = launcherOf(config)
  launcher.append(count)
  launcher.addEventListener('click', open)
  const closeButton = h(
    'button',
    { type: 'button', class: 'plain', 'aria-label': WORDS.close, click: close },
    icon(ICONS.close),
  )
  const list = h('div', { id: 'menu', class: 'menu', hidden: true })
  const menuButton = h(
    'button',
    {
      type: 'button',
      class: 'plain',
      'aria-label': WORDS.menu,
      'aria-expanded': 'false',
      'aria-controls': 'menu',
      click: () => showMenu(list.hidden === true),
    },
    icon(ICONS.menu),
  )
  for (const { label, run } of menu) {
    list.append(
      h(
        'button',
        {
          type: 'button',
          click: () => {
            showMenu(false)
            menuButton.focus()
            run()
          },
        },
        label,
      ),
    )
  }
  const picture = appearance.logoUrl || appearance.avatarUrl
  const status = h('p', { class: 'banner', role: 'status', hidden: true })
  const header = h(
    'header',
    {},
    picture ? h('img', { src: picture, alt: '', class: 'logo', width: 32, height: 32 }) : null,
    h('h1', {}, title),
    menuButton,
    closeButton,
    list,
  )
  const extra = h('div', { class: 'extra' })
  const body = h('div', { class: 'body' })
  const footer = h('footer', { hidden: appearance.hideBranding === true }, WORDS.brand)
  const panel = h(
    'section',
    { id: 'panel', role: 'region', 'aria-label': title, hidden: true },
    header,
    status,
    body,
    extra,
    footer,
  )

  function showMenu(shown: boolean): void {
    list.hidden = !shown
    menuButton.setAttribute('aria-expanded', String(shown))
    if (shown) list.querySelector('button')?.focus()
  }

  return {
    title,
    launcher,
    /** True if the launcher was pressed before there was a chat to open. */
    wasPressed: () => launcher.hasAttribute('data-pressed'),
    panel,
    body,
    extra,
    closeButton,
    /** Closes an open menu. Returns whether it was open. */
    closeMenu(): boolean {
      if (list.hidden) return false
      showMenu(false)
      menuButton.focus()
      return true
    },
    setStatus(text: string, tone: 'quiet' | 'loud' = 'quiet'): void {
      status.hidden = text === ''
      status.dataset.tone = tone
      setText(status, text)
    },
    setUnread(unread: number): void {
      count.hidden = unread === 0
      setText(count, unread > 9 ? '9+' : String(unread || ''))
      launcher.setAttribute('aria-label', unread ? `${WORDS.open}, ${WORDS.newMessages(unread)}` : WORDS.open)
    },
    /** On a narrow page the panel covers it and is a dialog. Elsewhere it is a region beside the page. */
    setModal(modal: boolean): void {
      panel.setAttribute('role', modal ? 'dialog' : 'region')
      if (modal) panel.setAttribute('aria-modal', 'true')
      else panel.removeAttribute('aria-modal')
      document.documentElement.dataset.modal = String(modal)
    },
  }
}
