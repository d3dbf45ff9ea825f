/**
 * Stands in the frame's page itself: draws what is seen first, the launcher or the greeting, with the owner's looks, and
 * has the host show the frame. The chat's own script runs after that was painted.
 */
import { pageData } from '../shared/dom'
import { hostOf } from '../widget/host'
import { createLauncher } from '../widget/launcher'
import { dress } from '../widget/theme'
import type { PublicConfig } from '../widget/wire'

const config = pageData<PublicConfig>('config')
const { isInline, scheme, tell } = hostOf()
const shown = dress(config, scheme)
if (!isInline) {
  const launcher = createLauncher(config)
  // A press that comes before the chat is there is kept for it.
  launcher.addEventListener('click', () => launcher.toggleAttribute('data-pressed', true), { once: true })
  document.body.replaceChildren(launcher)
}
tell('shown', {
  position: config.appearance.position ?? 'bottom-right',
  title: config.appearance.title,
  scheme: shown,
})
