/**
 * Inlined in the frame's page. Draws the first view, the launcher or the greeting, with the owner's looks, and asks the
 * host to show the frame. The chat's own script runs after the first paint.
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
  // A press before the chat is loaded is remembered for it.
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

/** A colour name or any hex form as `#rrggbb`. Null for an invalid colour. */
function opaque(colour: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(colour)) return colour
  const pen = document.createElement('canvas').getContext('2d')
  if (!pen || !CSS.supports('color', colour)) return null
  pen.fillStyle = colour
  return /^#[0-9a-f]{6}$/.test(pen.fillStyle) ? pen.fillStyle : null
}

/**
 * Applies the owner's looks through the object model, so that the page's policy needs no exception. Returns the scheme:
 * light, dark, or the visitor's own (`auto`).
 */
function dress({ appearance }: PublicConfig, scheme: string | null): string {
  const { style, dataset } = document.documentElement
  const { primaryColor = '', borderRadius, fontFamily = '', theme = 'auto', customCss } = appearance
  const accent = primaryColor ? opaque(primaryColor) : null
  if (accent) {
    style.setProperty('--accent', accent)
    // Black or white, whichever has more contrast on the colour. One of them always reaches 4.5:1.
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
