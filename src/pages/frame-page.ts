import { dataOf, documentOf, html } from '../kernel/html'
import type { AssetSet } from './assets'

/** The widget's facts for the frame page. `config` goes into the page, so it has only public data. */
export type ShownWidget = {
  config: {
    id: string
    appearance: { title?: string; logoUrl?: string | null; avatarUrl?: string | null }
    behavior?: { welcomeMessage?: string | null }
    security?: { turnstileScript?: string | null }
  } & Record<string, unknown>
  /** Origins of the pages that may frame it. Empty for none. */
  frameAncestors: readonly string[]
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-content-type-options': 'nosniff',
}

/** The exact address of a picture as a source for the policy. Null if a policy cannot express it. */
function sourceOf(address: string | null | undefined): string | null {
  const url = address ? URL.parse(address) : null
  if (!url) return null
  const { protocol, origin, pathname } = url
  return protocol === 'https:' ? `${origin}${pathname.replaceAll(';', '%3B').replaceAll(',', '%2C')}` : null
}

/**
 * The headers of the frame: only its own scripts and styles, and only the allowed pages may frame it (docs/operating.md
 * 5.1).
 */
export function frameHeaders({ config, frameAncestors }: ShownWidget, { inline }: AssetSet): Record<string, string> {
  const { logoUrl, avatarUrl } = config.appearance
  const pictures = [sourceOf(logoUrl), sourceOf(avatarUrl)].filter((source) => source !== null)
  // Origin of a bot check's script, with a leading space. Empty without one.
  const address = config.security?.turnstileScript
  const url = address ? URL.parse(address) : null
  const checker = url ? ` ${url.origin}` : ''
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${inline.scriptHash}'${checker}`,
    ...(checker ? [`frame-src${checker}`] : []),
    `style-src 'sha256-${inline.styleHash}'`,
    "connect-src 'self'",
    ['img-src', "'self'", 'data:', 'blob:', ...pictures].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ]
  return { ...HEADERS, 'content-security-policy': policy.join('; ') }
}

/**
 * The whole page. Contains everything for the first view, so that no further request delays it. The body is visible
 * until the script has drawn the chat.
 */
export const framePage = ({ config }: ShownWidget, { nameOf, inline }: AssetSet): string =>
  documentOf(
    config.appearance.title || 'Chat',
    html`<meta name="robots" content="noindex">
<style>${{ markup: inline.style }}</style>
<script type="application/json" id="config">${{ markup: dataOf(config) }}</script>
<script src="/assets/${nameOf.widget}" data-text="/assets/${nameOf.widgetText}" defer></script>`,
    html`<main id="first"><h1>${config.appearance.title || 'Chat'}</h1><p>${config.behavior?.welcomeMessage ?? ''}</p></main><script>${{ markup: inline.script }}</script>`,
    ', viewport-fit=cover, interactive-widget=resizes-content',
  )
