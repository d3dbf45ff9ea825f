import { h, ICONS, icon } from '../shared/dom'
import type { PublicConfig } from './wire'
import { OPEN } from './words'

const ID = 'launcher'

/** The button that opens the chat, before anything else is loaded. */
export const createLauncher = ({ appearance: { launcherText } }: PublicConfig): HTMLButtonElement =>
  h(
    'button',
    { type: 'button', id: ID, 'aria-expanded': 'false', 'aria-controls': 'panel', 'aria-label': OPEN },
    icon(ICONS.chat),
    launcherText && h('span', { class: 'launcher-text' }, launcherText),
  )

/** The launcher of this page. Created if missing, for example inside an element of the host. */
export function launcherOf(config: PublicConfig): HTMLButtonElement {
  const found = document.getElementById(ID)
  return found instanceof HTMLButtonElement ? found : createLauncher(config)
}
