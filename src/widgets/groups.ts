import type { AtRule, Declaration } from 'postcss'
import postcss from 'postcss'
import type { Tier } from '../kernel/caller'
import { invalidInput, quoted } from '../kernel/errors'
import { shorten } from '../kernel/text'
import { widgetErrors } from './errors'
import type { Behavior, Groups } from './schema'
import type { WidgetRow } from './table'
import { readOrigins } from './visitor-auth'

/** Defaults of a new widget (docs/api.md 15). */
export const DEFAULTS: Groups = {
  appearance: {
    primaryColor: '#2563eb',
    position: 'bottom-right',
    borderRadius: 16,
    fontFamily: 'system-ui, sans-serif',
    customCss: '',
    title: '',
    logoUrl: '',
    avatarUrl: '',
    launcherText: '',
    theme: 'auto',
    hideBranding: false,
  },
  behavior: {
    welcomeMessage: '',
    placeholder: '',
    maxPromptLength: 2_000,
    enableFileUpload: false,
    enableVoice: false,
    strictAbuse: false,
    mode: 'auto',
    skills: [],
    suggestedPrompts: [],
    persona: 'svc',
  },
  security: { requireTurnstile: false, allowedOrigins: [], sessionTtlMinutes: 1_440, maxMessagesPerSession: 200 },
  intents: { enabled: true, keywords: [], action: 'takeover', url: null, message: null },
}

type Persona = Behavior['persona']

/** The persona of a stored widget. Older widgets store only its text, or an empty string. */
export function personaOf(stored: Persona | string): Persona {
  if (typeof stored !== 'string' || stored === 'svc' || stored === 'none') return stored as Persona
  return stored ? { system_prompt: stored } : 'svc'
}

/** At-rules that only arrange existing content. Fonts, imports and pages of others are excluded. */
const AT_RULES = new Set(['media', 'supports', 'keyframes', '-webkit-keyframes', 'container', 'layer'])

const PROPERTIES = new Set(['behavior', '-moz-binding'])

const LOADS = /url\(|image-set\(|image\(|src\(|expression\(|javascript:|@import|<\/?[a-z!]/

const loads = (text: string): boolean => LOADS.test(unescaped(text))

type Sent = { [G in keyof Groups]?: Partial<Groups[G]> | undefined }
/** Modes in which strangers could make the owner's server work long, or unseen. */
const NOT_FOR_VISITORS = /^(video$|research$|stealth)/

export const isForVisitors = (mode: string): boolean => !NOT_FOR_VISITORS.test(mode)

type Rules = { knowsMode(mode: string): boolean; hasBotCheck: boolean; tier: Tier }

/**
 * Merges the sent groups with the previous ones, member by member (docs/api.md 15.1). Throws 400, and 403 for a plan
 * without the white label.
 */
export function readGroups(sent: Sent, before: WidgetRow | null, rules: Rules): Partial<Groups> {
  const merged = <G extends keyof Groups>(group: G): Groups[G] | undefined => {
    const members = Object.entries(sent[group] ?? {}).filter(([name]) => Object.hasOwn(DEFAULTS[group], name))
    return sent[group] && { ...(before?.[group] ?? DEFAULTS[group]), ...Object.fromEntries(members) }
  }
  const read = {
    appearance: merged('appearance'),
    behavior: merged('behavior'),
    security: merged('security'),
    intents: merged('intents'),
  }
  if (sent.appearance && read.appearance) {
    const { hideBranding, customCss } = sent.appearance
    if (hideBranding && rules.tier === 'free') throw widgetErrors.brandingNeedsTier(rules.tier)
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

/** Validates a link or picture address that visitors see: https, or http on this machine. */
function assertLink(path: string, link: string | undefined): void {
  if (!link) return
  const url = URL.parse(link)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && /^(localhost|127\.)/.test(url.hostname))
  if (!isSafe || url.username || url.password || /[\s"'<>\\]/.test(link))
    throw invalidInput(path, `"${path}" is "${quoted(link)}"; send an https address.`)
}

/**
 * An owner's CSS without parts that could load something, run something or leave the style element (docs/api.md 15.1).
 * Throws 400 for invalid CSS.
 */
export function sanitiseCss(css: string, path = 'appearance.customCss'): string {
  if (css.trim() === '') return ''
  const root = parsed(css, path)
  root.walkComments((comment) => void comment.remove())
  root.walkAtRules((rule: AtRule) => {
    if (!AT_RULES.has(rule.name.toLowerCase()) || loads(rule.params)) rule.remove()
  })
  root.walkRules((rule) => {
    if (loads(rule.selector) || probes(rule.selector)) rule.remove()
  })
  root.walkDecls((declaration: Declaration) => {
    const name = unescaped(declaration.prop)
    if (PROPERTIES.has(name) || loads(declaration.value) || loads(name)) declaration.remove()
  })
  const left = root.toString().trim()
  // A browser ends a style element at the first "</", so the rest must not contain it.
  return left.includes('</') || /<!--/.test(left) ? '' : left
}

function parsed(css: string, path: string) {
  try {
    return postcss.parse(css)
  } catch (error) {
    const { reason = 'it cannot be read', line } = error as { reason?: string; line?: number }
    throw invalidInput(path, `"${path}" is not CSS: ${shorten(reason, 120)}${line ? ` in line ${line}` : ''}.`)
  }
}

/** True if the selector depends on typed text. Styles could then leak that text to another server. */
function probes(selector: string): boolean {
  const plain = unescaped(selector)
  return plain.includes('[value') || (plain.includes(':has(') && /input|textarea|select/.test(plain))
}

function withoutComments(text: string): string {
  let [bare, done] = ['', 0]
  for (let open = text.indexOf('/*'); open >= 0; open = text.indexOf('/*', done)) {
    const close = text.indexOf('*/', open + 2)
    if (close < 0) break
    bare += text.slice(done, open)
    done = close + 2
  }
  return bare + text.slice(done)
}

/** The text as browsers interpret it: without comments, escapes and case. */
function unescaped(text: string): string {
  const plain = withoutComments(text).replace(
    /\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|([^\n]))/g,
    (_, hex?: string, char?: string) => {
      const code = hex ? Number.parseInt(hex, 16) : 0
      return char ?? (code > 0 && code < 0x11_00_00 ? String.fromCodePoint(code) : '')
    },
  )
  return plain.replace(/\s+/g, ' ').toLowerCase()
}
