import { chosen, fit, fitLine, type Line, line, type Span, textSpan, wrapped } from '../draw/line'
import { clockOf, ordinal, spellAge, spellCountdown, spellMoney } from '../draw/spell'
import type { Model } from '../state/model'
import { paneOf } from '../state/rows'
import {
  type Chat,
  chatPath,
  chatsOf,
  chosenChat,
  flat,
  isMine,
  type Message,
  pathOf,
  readOf,
  sinceOf,
  suggestionOf,
} from './chats'

const MAX_CHARS = 4_000
const NAMES: Readonly<Record<Message['role'], string>> = {
  user: 'visitor',
  assistant: 'ai',
  operator: 'operator',
  system: '─',
}

export function takeovers(model: Model, width: number, height: number): Line[] {
  const chats = chatsOf(model)
  const queueWidth = width >= 120 ? 32 : 25
  const sideWidth = width >= 130 ? 32 : 0
  const middle = width - queueWidth - 1 - (sideWidth ? sideWidth + 1 : 0)
  const chat = chosenChat(model)
  const queue = queuePane(model, chats, queueWidth)
  const talk = chatPane(model, chat, middle, height)
  const side = sideWidth && chat ? aboutPane(model, chat) : []
  const below = belowQueue(model, sideWidth ? null : chat, queueWidth)
  const room = Math.max(height - below.length, 6)
  // The first line shown, chosen so that the selected chat is visible.
  const top = Math.max(0, Math.min(queue.at - Math.floor(room / 2), queue.lines.length - room))
  const left = Array.from({ length: height }, (_, at) => queue.lines[top + at] ?? [])
  if (queue.lines.length - top <= room || room < height) left.splice(room, below.length, ...below)
  return Array.from({ length: height }, (_, at) => [
    ...fitLine(left[at] ?? [], queueWidth - 1),
    textSpan(isRule(talk[at]) ? ' ├' : ' │', 'dim'),
    ...fitLine(talk[at] ?? [], middle),
    ...(sideWidth ? [textSpan(isRule(talk[at]) ? '┤' : '│', 'dim'), ...fitLine(side[at] ?? [], sideWidth)] : []),
  ])
}

const isRule = (row: Line | undefined): boolean => row?.[0]?.text.startsWith('───') ?? false

type Group = { title: string; chats: Chat[]; sign: Span }

function queuePane(model: Model, chats: readonly Chat[], width: number): { lines: Line[]; at: number } {
  const picked = chosenChat(model)?.id
  const withAi = Number(model.topics.takeovers?.facts.with_ai ?? 0)
  const of = (wanted: (chat: Chat) => boolean) => chats.filter(wanted)
  const groups: Group[] = [
    {
      title: 'WAITING',
      chats: of(({ takeover_status }) => takeover_status === 'requested'),
      sign: textSpan('!', 'warn'),
    },
    {
      title: 'MINE',
      chats: of((chat) => chat.takeover_status === 'human' && isMine(model, chat)),
      sign: textSpan('●', 'good'),
    },
    {
      title: 'OTHERS',
      chats: of((chat) => chat.takeover_status === 'human' && !isMine(model, chat)),
      sign: textSpan('◐'),
    },
    { title: 'WITH AI', chats: of(({ takeover_status }) => takeover_status === 'ai'), sign: textSpan('○', 'dim') },
  ]
  const lines: Line[] = []
  let at = 0
  for (const { title, chats: own, sign } of groups) {
    const total = title === 'WITH AI' ? withAi : own.length
    if (!total && title !== 'WAITING') continue
    lines.push(line(textSpan(` ${title} ${total}`, title === 'WAITING' && total ? 'warn' : 'strong')))
    for (const chat of own) {
      const isPicked = chat.id === picked
      if (isPicked) at = lines.length
      const head = line(isPicked ? ' ▸ ' : '   ', sign, ` ${headOf(model, chat, width > 30)}`)
      lines.push(isPicked ? chosen(fitLine(head, width - 1)) : head)
      if (chat.takeover_status !== 'ai' && chat.said) lines.push(line(`   ${fit(`"${flat(chat.said)}"`, width - 4)}`))
    }
  }
  const more = withAi - groups.at(-1)!.chats.length
  if (more > 0 && groups.at(-1)!.chats.length) lines.push(line(textSpan(`   … ${more} more`, 'dim')))
  if (!chats.length) lines.push(line(textSpan(' Nobody is waiting.', 'dim')))
  return { lines, at }
}

function headOf(model: Model, chat: Chat, isWide: boolean): string {
  const { takeover_status, widget, operator_name, page_url } = chat
  if (takeover_status === 'ai') return `${widget}  ${pathOf(page_url)}`
  const age = spellAge(model.now - sinceOf(chat))
  if (takeover_status === 'human' && !isMine(model, chat)) {
    const who = operator_name ?? 'somebody'
    return isWide ? `${age}  ${widget}  ${who}` : `${age}  ${who}`
  }
  return `${age}  ${widget}${isWide ? `  ${pathOf(page_url)}` : ''}`
}

function chatPane(model: Model, chat: Chat | null, width: number, height: number): Line[] {
  if (!chat) {
    const withAi = Number(model.topics.takeovers?.facts.with_ai ?? 0)
    const asks = (model.topics.takeovers?.facts.asks ?? []) as { widget: string; words: string[] }[]
    return [
      line(` Nobody is waiting. ${withAi} visitors are with the AI.`),
      ...(asks.length ? [[], line(textSpan(' Words that ask for a person:', 'dim'))] : []),
      ...asks.map(({ widget, words }) =>
        line(` ${fit(flat(widget), 14)} ${flat(words.join(', ') || 'the default ones')}`),
      ),
    ]
  }
  const rule = line(textSpan('─'.repeat(width), 'dim'))
  const draft = model.drafts[chat.id] ?? ''
  const isWriting = model.mode.type === 'write'
  const input = isWriting || draft ? inputPane(model, draft, width) : []
  const head = [current(model, chat, width), line(` ${hintOf(model, chat)}`), rule]
  const foot = input.length ? [rule, ...input] : []
  const room = height - head.length - foot.length
  const messages = transcript(model, chat, width)
  const back = paneOf(model) === 'chat' ? Math.min(model.scroll, Math.max(0, messages.length - room)) : 0
  const end = messages.length - back
  return [
    ...head,
    ...messages.slice(Math.max(0, end - room), end),
    ...Array.from({ length: Math.max(0, room - messages.length) }, () => []),
    ...foot,
  ]
}

function current(model: Model, chat: Chat, width: number): Line {
  const since = spellAge(model.now - sinceOf(chat))
  const state =
    chat.takeover_status === 'human'
      ? isMine(model, chat)
        ? textSpan(`● you have it  ${since}`, 'good')
        : textSpan(`◐ ${chat.operator_name ?? 'somebody'} has it  ${since}`)
      : chat.takeover_status === 'requested'
        ? textSpan(`! waits for a person  ${since}`, 'warn')
        : textSpan('○ with the AI', 'dim')
  const left = ` ${chat.widget}  ${pathOf(chat.page_url)}`
  const room = width - Bun.stringWidth(state.text) - 1
  return line(fit(left, room - 1), ' ', state)
}

function hintOf(model: Model, chat: Chat): string {
  const left = chat.back_at === null ? null : Date.parse(chat.back_at) - model.now
  if (chat.takeover_status === 'human' && isMine(model, chat))
    return left === null
      ? 'AI is paused. Press i to write, ^L to release it.'
      : `AI is paused. Back to AI in ${spellCountdown(left)} if you do not write`
  if (chat.takeover_status === 'human') return 'AI is paused. Press T to take the chat over.'
  if (chat.takeover_status === 'requested')
    return `${(chat.reason || 'Asked for a person').replace(/[^.!?]$/, '$&.')} Press T to take it.`
  return 'Press T to take it over.'
}

function transcript(model: Model, chat: Chat, width: number): Line[] {
  const detail = model.details[chatPath(chat)]
  if (!detail) return [line(' · · ·')]
  if (detail.problem)
    return wrapped(`! ${detail.problem}`, width - 2, 4).map((text) => line(textSpan(` ${text}`, 'warn')))
  const { messages = [] } = readOf(model, chat) ?? {}
  const left = chat.left_at && chat.takeover_status !== 'ai' ? Date.parse(chat.left_at) : null
  const last = (at: number, words: string, tone?: 'warn' | 'dim') => [
    line(textSpan(` ${clockOf(at).slice(0, 5)} ─ ${words} ─`, tone)),
  ]
  const gone = left === null ? [] : last(left, 'the visitor left', 'warn')
  const writes = chat.typing ? last(model.now, 'visitor is typing', 'dim') : []
  const texts = withState(model, chat, messages).flatMap(({ role, content, created_at }) => {
    const time = clockOf(Date.parse(created_at)).slice(0, 5)
    if (role === 'system')
      return wrapped(`${time} ─ ${flat(content)} ─`, width - 2, 3).map((text) => line(textSpan(` ${text}`, 'dim')))
    const name = role === 'operator' && isMine(model, chat) ? 'you' : NAMES[role]
    const rows = content.split('\n').flatMap((part) => wrapped(part, width - 17, 40))
    return rows.map((text, at) =>
      line(at ? ' '.repeat(16) : textSpan(` ${time} ${name.padEnd(9)}`, role === 'user' ? 'strong' : 'dim'), text),
    )
  })
  return [...texts, ...gone, ...writes]
}

type Notice = Pick<Message, 'role' | 'content' | 'created_at'>

/** Adds a line for the last change of state: the visitor asked for a person, or a person joined. */
function withState(model: Model, chat: Chat, messages: readonly Message[]): readonly Notice[] {
  if (!chat.since || chat.takeover_status === 'ai') return messages
  const who = isMine(model, chat) ? 'you' : (chat.operator_name ?? 'somebody')
  const why = chat.reason ? `: ${chat.reason}` : ''
  const content = chat.takeover_status === 'human' ? `${who} joined` : `asked for a person${why}`
  const at = messages.findIndex(({ created_at }) => created_at > chat.since!)
  return messages.toSpliced(at < 0 ? messages.length : at, 0, {
    role: 'system',
    content,
    created_at: chat.since,
  } as Message)
}

const INPUT_ROWS = 2

function inputPane({ mode }: Model, draft: string, width: number): Line[] {
  const isWriting = mode.type === 'write'
  const count = `${draft.length}/${MAX_CHARS}`
  const rows = wrapped(`${draft}${isWriting ? '▌' : ''}`, width - 4, 100).slice(-INPUT_ROWS)
  while (rows.length < INPUT_ROWS) rows.push('')
  const problem = isWriting && mode.failed ? ` ✗ not sent: ${mode.failed}` : ''
  const state = isWriting && mode.sending ? ' …' : problem
  return rows.map((text, at) => {
    const left = line(at ? '   ' : ' > ', text)
    if (at < INPUT_ROWS - 1) return left
    const right = line(textSpan(state, 'bad'), ` ${count} `)
    const room = width - Bun.stringWidth(`${state} ${count} `)
    return [...fitLine(left, room), ...right]
  })
}

function aboutPane(model: Model, chat: Chat): Line[] {
  const { visitor, messages = [] } = readOf(model, chat) ?? {}
  const { language, locale, ...notice } = (visitor?.context ?? {}) as Record<string, unknown>
  const suggestion = model.details[suggestionOf(chat.id)]?.value
  const byAi = messages.filter(({ role }) => role === 'assistant').length
  const facts = Object.entries(notice).slice(0, 2)
  const replies = [...model.replies.keys()].map((name) => `/${name}`).join('  ')
  const [browser = 'not told'] = /(Firefox|Edg|Chrome|Safari)\/[\d]+/.exec(chat.user_agent ?? '') ?? []
  return [
    line(' VISITOR'),
    line(
      ` first seen   ${clockOf(Date.parse(chat.created_at)).slice(0, 5)}${chat.visits && chat.visits > 1 ? `, ${ordinal(chat.visits)} visit` : ''}`,
    ),
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
    line(textSpan(' AI SUGGESTS', 'strong'), textSpan('  (^D asks it)', 'dim')),
    ...(typeof suggestion === 'string'
      ? wrapped(flat(suggestion), 30, 6).map((text) => line(` ${text}`))
      : [line(textSpan(' nothing yet; costs one call', 'dim'))]),
    ...noteLines(model, chat, 32),
    ...(model.replies.size ? [[], line(textSpan(' SHORTCUTS', 'strong'))] : []),
    ...wrapped(replies, 30, 3).flatMap((text) => (text ? [line(` ${text}`)] : [])),
  ]
}

/** Below the chats: the day's figures and, if no pane beside shows them, the notes of the open chat. */
function belowQueue({ topics, ...model }: Model, chat: Chat | null, width: number): Line[] {
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
    line(textSpan(' TODAY', 'strong')),
    line(` asked ${picked_up + waiting}  picked up ${picked_up}`),
    line(` median wait ${wait_ms === null ? '–' : spellAge(wait_ms)}`),
    line(` left before pickup ${left}`),
  ]
}

function noteLines(model: Model, chat: Chat, width: number): Line[] {
  const { notes = [] } = readOf(model, chat) ?? {}
  if (!notes.length) return []
  const rows = notes.slice(-2).flatMap(({ content }) => wrapped(flat(content), width - 2, 3))
  return [[], line(textSpan(' NOTE (not for visitors)', 'strong')), ...rows.map((text) => line(` ${text}`))]
}
