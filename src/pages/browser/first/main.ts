/**
 * Inlined in the frame's page: draws what is seen first, the launcher or the greeting, with the owner's looks, and
 * has the host show the frame. The chat's own script runs after that was painted.
 */
import { pageData } from '../shared/dom'
import { hostOf } from '../widget/host'
import { createLauncher } from '../widget/launcher'
import type { PublicConfig } from '../widget/wire'

const FONT = /^[\w\s,'"-]{1,200}$/

const MAX_RADIUS = 32

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

/** Brightness of a colour by WCAG 2.2, from 0 to 1. */
function luminance(hex: string): number {
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(1 + at, 3 + at), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** A colour, by name or in any hex form, as `#rrggbb`; null for what is no colour. */
function opaque(colour: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(colour)) return colour
  const pen = document.createElement('canvas').getContext('2d')
  if (!pen || !CSS.supports('color', colour)) return null
  pen.fillStyle = colour
  return /^#[0-9a-f]{6}$/.test(pen.fillStyle) ? pen.fillStyle : null
}

/**
 * Puts the owner's looks on the page through the object model, so that the policy of the page needs no exception.
 * Returns whether it is light, dark, or as the visitor has it (`auto`).
 */
function dress({ appearance }: PublicConfig, scheme: string | null): string {
  const { style, dataset } = document.documentElement
  const { primaryColor = '', borderRadius, fontFamily = '', theme = 'auto', customCss } = appearance
  const accent = primaryColor ? opaque(primaryColor) : null
  if (accent) {
    style.setProperty('--accent', accent)
    // Black or white, whichever can be read better on a colour: one of them always reaches 4.5:1.
    style.setProperty('--on-accent', luminance(accent) > 0.179 ? '#000' : '#fff')
  }
  if (typeof borderRadius === 'number') {
    style.setProperty('--radius', `${Math.min(MAX_RADIUS, Math.max(0, borderRadius))}px`)
  }
  if (FONT.test(fontFamily)) style.setProperty('--font', `${fontFamily}, system-ui, sans-serif`)
  const wanted = scheme === 'light' || scheme === 'dark' ? scheme : theme
  if (wanted !== 'auto') dataset.theme = wanted
  if (customCss) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(customCss)
    document.adoptedStyleSheets.push(sheet)
  }
  return wanted
}
