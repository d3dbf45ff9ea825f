import type { Tier } from '../kernel/caller'
import { invalidInput, quoted } from '../kernel/errors'
import { sanitiseCss } from './css'
import { DEFAULTS } from './defaults'
import { brandingNeedsTier } from './errors'
import { readOrigins } from './origins'
import type { Groups } from './schema'
import type { WidgetRow } from './table'

type Sent = { [G in keyof Groups]?: Partial<Groups[G]> | undefined }
/** Modes in which strangers would have the owner's server work for long, or unseen. */
const NOT_FOR_VISITORS = /^(video$|research$|stealth)/

export const isForVisitors = (mode: string): boolean => !NOT_FOR_VISITORS.test(mode)

type Rules = { knowsMode(mode: string): boolean; hasBotCheck: boolean; tier: Tier }

/**
 * The groups that were sent, each merged with what was there, member by member (contract 15.1). Throws 400, and 403 for
 * a plan that lacks the white label.
 */
export function readGroups(sent: Sent, before: WidgetRow | null, rules: Rules): Partial<Groups> {
  const merged = <G extends keyof Groups>(group: G): Groups[G] | undefined =>
    sent[group] && { ...(before?.[group] ?? DEFAULTS[group]), ...sent[group] }
  const read = {
    appearance: merged('appearance'),
    behavior: merged('behavior'),
    security: merged('security'),
    intents: merged('intents'),
  }
  if (sent.appearance && read.appearance) {
    const { hideBranding, customCss } = sent.appearance
    if (hideBranding && rules.tier === 'free') throw brandingNeedsTier(rules.tier)
    if (customCss !== undefined) read.appearance.customCss = sanitiseCss(customCss)
    for (const name of ['logoUrl', 'avatarUrl'] as const) assertLink(`appearance.${name}`, sent.appearance[name])
  }
  const { mode } = sent.behavior ?? {}
  if (mode !== undefined && !(rules.knowsMode(mode) && isForVisitors(mode)))
    throw invalidInput('behavior.mode', `"behavior.mode" is "${quoted(mode)}", which widgets cannot use.`)
  if (sent.security?.allowedOrigins && read.security)
    read.security.allowedOrigins = readOrigins(sent.security.allowedOrigins)
  if (sent.security?.requireTurnstile && !rules.hasBotCheck)
    throw invalidInput(
      'security.requireTurnstile',
      'No bot check is set up on this server: SVC_TURNSTILE_SECRET and SVC_TURNSTILE_SITE_KEY.',
    )
  const { url } = sent.intents ?? {}
  if (url !== null) assertLink('intents.url', url)
  const { action } = read.intents ?? {}
  if ((action === 'redirect' || action === 'webhook') && !read.intents?.url)
    throw invalidInput('intents.url', `"intents.action" is "${action}", so "intents.url" is required.`)
  return Object.fromEntries(Object.entries(read).filter(([, group]) => group !== undefined))
}

/** Shown to visitors as a link or a picture: https, or http on this machine. */
function assertLink(path: string, link: string | undefined): void {
  if (!link) return
  const url = URL.parse(link)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && /^(localhost|127\.)/.test(url.hostname))
  if (!isSafe || url.username || url.password || /[\s"'<>\\]/.test(link))
    throw invalidInput(path, `"${path}" is "${quoted(link)}"; send an https address.`)
}
