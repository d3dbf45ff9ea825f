import { fit, type Line, line, say, wrapped } from '../draw/line'
import { clockOf, spellAge, spellMoney } from '../draw/spell'
import type { Model } from '../state/model'
import { type Chat, flat, pathOf, readOf, suggestionOf } from './chats'

export function aboutPane(model: Model, chat: Chat): Line[] {
  const { visitor, messages = [] } = readOf(model, chat) ?? {}
  const { language, locale, ...told } = (visitor?.context ?? {}) as Record<string, unknown>
  const suggestion = model.details[suggestionOf(chat.id)]?.value
  const byAi = messages.filter(({ role }) => role === 'assistant').length
  const facts = Object.entries(told).slice(0, 2)
  const [browser = 'not told'] = /(Firefox|Edg|Chrome|Safari)\/[\d]+/.exec(chat.user_agent ?? '') ?? []
  return [
    line(' VISITOR'),
    line(` first seen   ${clockOf(Date.parse(chat.created_at)).slice(0, 5)}${visitOf(chat)}`),
    line(` page         ${pathOf(chat.page_url) || 'not told'}`),
    line(` language     ${flat(String(language ?? locale ?? 'not told'))}`),
    line(` browser      ${browser.replace('/', ' ')}`),
    line(` name         ${flat(visitor?.identity?.name ?? 'not given')}`),
    ...facts.map(([name, value]) => line(` ${fit(flat(name), 12)} ${flat(String(value))}`)),
    [],
    line(' THIS CHAT'),
    line(` ${chat.message_count} messages${byAi ? `, ${byAi} by AI` : ''}`),
    line(` last one     ${spellAge(model.now - Date.parse(chat.last_message_at))} ago`),
    line(` cost ${spellMoney(chat.cost_cents)}  key ${chat.key ?? '–'}`),
    ...(chat.reason ? wrapped(`asked: ${flat(chat.reason)}`, 30, 4).map((text) => line(` ${text}`)) : []),
    [],
    line(say(' AI SUGGESTS', 'strong'), say('  (^D asks it)', 'dim')),
    ...(typeof suggestion === 'string'
      ? wrapped(flat(suggestion), 30, 6).map((text) => line(` ${text}`))
      : [line(say(' nothing yet; costs one call', 'dim'))]),
    ...noteLines(model, chat, 32),
    ...shortcuts(model),
  ]
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const ENDS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' }

const visitOf = ({ visits }: Chat): string =>
  visits && visits > 1 ? `, ${visits}${ENDS[ORDINALS.select(visits)] ?? 'th'} visit` : ''

const shortcuts = ({ replies }: Model): Line[] =>
  replies.size
    ? [
        [],
        line(say(' SHORTCUTS', 'strong')),
        ...wrapped([...replies.keys()].map((name) => `/${name}`).join('  '), 30, 3).map((text) => line(` ${text}`)),
      ]
    : []

/** Below the chats: the day in figures and, where no pane beside shows them, the notes of the open one. */
export function belowQueue({ topics, ...model }: Model, chat: Chat | null, width: number): Line[] {
  const {
    chats = 0,
    picked_up = 0,
    waiting = 0,
    left = 0,
    wait_ms = null,
  } = (topics.takeovers?.facts.today ?? {}) as Record<string, number>
  const notes = chat ? noteLines({ topics, ...model }, chat, width) : []
  if (notes.length) return notes
  if (!chats) return []
  return [
    [],
    line(say(' TODAY', 'strong')),
    line(` asked ${picked_up + waiting}  picked up ${picked_up}`),
    line(` median wait ${wait_ms === null ? '–' : spellAge(wait_ms)}`),
    line(` left before pickup ${left}`),
  ]
}

function noteLines(model: Model, chat: Chat, width: number): Line[] {
  const { notes = [] } = readOf(model, chat) ?? {}
  if (!notes.length) return []
  const rows = notes.slice(-2).flatMap(({ content }) => wrapped(flat(content), width - 2, 3))
  return [[], line(say(' NOTE (not for visitors)', 'strong')), ...rows.map((text) => line(` ${text}`))]
}
