import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, notFoundFailure, usageFailure } from '../failure'
import { column } from '../output/columns'
import { type PageOrder, pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { argument, choice, flag, text } from '../words'

const columns = [
  column('session_id', 'SESSION'),
  column('takeover_status', 'STATUS'),
  column('operator.name', 'WHO'),
  column('reason', 'WHY'),
  column('message_count', 'MESSAGES', { kind: 'number' }),
  column('visitor.page_url', 'PAGE', { wide: true }),
  column('last_message_at', 'LAST', { kind: 'time' }),
  column('config_id', 'WIDGET', { wide: true }),
]
const standing = [column('session_id', 'SESSION'), column('takeover_status', 'STATUS')]
const common = { apis: ['tenant', 'operator'], offline: false, danger: 'none', columns } as const
const args = { session: argument('id of the conversation') }
const SESSION = '4f0b7f0e-6f7e-4d0a-9a52-0d9f6b1f2c11'
const ofWidget = { widget: text('ID', 'id of the widget') }
const WATCH_MS = 2_000

type Query = PageOrder & { takeover_status?: 'ai' | 'requested' | 'human'; status?: 'open' | 'closed' }

/** Of one widget; without one of all, which only operators can ask for at once. */
async function queueOf(shell: Shell, widget: string | undefined, query: Query) {
  const { api, isOperator } = await apiOf(shell)
  if (widget !== undefined) {
    const found = await api.iframes({ id: encodeURIComponent(widget) }).conversations.get({ query })
    return expectData(found)
  }
  if (!isOperator) throw usageFailure('Name the widget: --widget ID. svc-admin widgets list shows yours.')
  return expectData(await (await shell.connect()).ops().takeovers.get({ query }))
}

/** The routes of one conversation; its widget is looked for where it is not named. */
async function chatAt(shell: Shell, session: string, widget: string | undefined) {
  const { api } = await apiOf(shell)
  const id = widget ?? (await widgetOf(shell, session))
  const chat = api.iframes({ id: encodeURIComponent(id) }).conversations({ sessionId: encodeURIComponent(session) })
  return { chat }
}

async function widgetOf(shell: Shell, session: string): Promise<string> {
  for (let cursor: string | undefined; ; ) {
    const page = await queueOf(shell, undefined, { limit: 100, ...(cursor ? { cursor } : {}) })
    const found = page.conversations.find(({ session_id }) => session_id === session)
    if (found) return found.config_id
    if (!page.next_cursor) throw notFoundFailure(`No conversation ${session} here.`)
    cursor = page.next_cursor
  }
}

const listTakeovers = defineCommand({
  ...common,
  path: 'takeovers list',
  summary: 'List the conversations of widgets, last activity first',
  about:
    "With --status requested those that wait for a person. On the server's machine of all widgets; over --url name one.",
  examples: ['takeovers list --status requested', `takeovers list --widget ${SESSION} --json`],
  impact: 'read',
  exits: [3, 4, 7],
  watchable: true,
  flags: { ...ofWidget, status: choice(['requested', 'human', 'ai'], 'only those that stand so'), ...pageFlags },
  async run(shell, { widget, status, ...paging }) {
    const only = status ? { takeover_status: status } : {}
    await printPages(shell, paging, {
      page: async (order) => {
        const found = await queueOf(shell, widget, { ...order, status: 'open', ...only })
        return { items: found.conversations, next: found.next_cursor }
      },
      columns,
      empty: 'No conversations.',
    })
  },
})

const watchTakeovers = defineCommand({
  ...common,
  path: 'takeovers watch',
  summary: 'Print a line for each change of who answers a conversation',
  about: 'Runs until it is interrupted. With --bell the terminal rings when somebody asks for a person.',
  examples: ['takeovers watch --bell', `takeovers watch --widget ${SESSION}`],
  impact: 'read',
  exits: [3, 4, 7],
  flags: { ...ofWidget, bell: flag('ring when somebody asks for a person') },
  async run(shell, { widget, bell }) {
    const known = new Map<string, string>()
    for (let isFirst = true; !shell.signal.aborted; isFirst = false) {
      const { conversations } = await queueOf(shell, widget, { limit: 100, status: 'open' })
      for (const { session_id, takeover_status, operator, reason } of conversations) {
        const now = `${takeover_status}${operator ? ` ${operator.name}` : ''}`
        const isNew = (known.get(session_id) ?? 'ai') !== now
        known.set(session_id, now)
        if (!isNew || (isFirst && takeover_status === 'ai')) continue
        const rings = bell && takeover_status === 'requested' ? '\u0007' : ''
        shell.note(`${rings}${session_id} ${now}${reason ? `: ${reason}` : ''}`)
      }
      await shell.clock.sleep(WATCH_MS, shell.signal)
    }
  },
})

const saidColumns = [column('role', 'WHO'), column('content', 'SAID'), column('created_at', 'AT', { kind: 'time' })]

const showTranscript = defineCommand({
  ...common,
  columns: saidColumns,
  path: 'takeovers transcript',
  summary: 'Show what was said in a conversation',
  about: 'What visitors wrote is shown without control characters.',
  examples: [`takeovers transcript ${SESSION}`, `takeovers transcript ${SESSION} --json`],
  impact: 'read',
  exits: [3, 4, 7],
  args,
  flags: ofWidget,
  async run(shell, { session, widget }) {
    const { chat } = await chatAt(shell, session, widget)
    shell.print.list(expectData(await chat.get({ query: {} })).messages, saidColumns, 'Nothing was said.')
  },
})

const takenColumns = [...standing, column('operator.name', 'WHO')]
const takeOver = defineCommand({
  ...common,
  columns: takenColumns,
  path: 'takeovers take',
  summary: 'Take a conversation over: the AI is silent until it is released',
  about: 'Exits 5 when somebody else has it; --steal takes it from them. Thirty minutes without a word give it back.',
  examples: [`takeovers take ${SESSION}`, `takeovers take ${SESSION} --as Ann --say "Ann here." --json`],
  impact: 'write',
  exits: [3, 4, 5, 7, 10],
  args,
  flags: {
    ...ofWidget,
    as: text('NAME', 'how the visitor sees you; otherwise as your account is called, or Support'),
    say: text('TEXT', 'what you say first'),
    steal: flag('also from somebody else'),
  },
  async run(shell, { session, widget, as: operator_name, say: message, steal }) {
    if (shell.planned(`take over conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const order = {
      ...(operator_name === undefined ? {} : { operator_name }),
      ...(message === undefined ? {} : { message }),
      ...(steal ? { force: true } : {}),
    }
    shell.print.item(expectData(await chat.takeover.post(order)), takenColumns)
    shell.note(`Say something: svc-admin takeovers reply ${session} "…"`)
  },
})

const repliedColumns = [column('content', 'SAID'), column('created_at', 'AT', { kind: 'time' })]
const reply = defineCommand({
  ...common,
  columns: repliedColumns,
  path: 'takeovers reply',
  summary: 'Say something in a conversation that you have taken over',
  about: 'Exits 5 when you have not taken it over.',
  examples: [`takeovers reply ${SESSION} "It is on its way."`, `takeovers reply ${SESSION} "Hello" --json`],
  impact: 'write',
  exits: [3, 4, 5, 7, 10],
  args: { ...args, words: argument('what you say') },
  flags: ofWidget,
  async run(shell, { session, words: content, widget }) {
    if (shell.planned(`say something in conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    shell.print.item(expectData(await chat.messages.post({ content }, { headers })).message, repliedColumns)
  },
})

const release = defineCommand({
  ...common,
  columns: standing,
  path: 'takeovers release',
  summary: 'Give a conversation back to the AI',
  about: 'Works from any state. The next answer sees what was said meanwhile.',
  examples: [`takeovers release ${SESSION}`, `takeovers release ${SESSION} --json`],
  impact: 'write',
  exits: [3, 4, 7, 10],
  args,
  flags: ofWidget,
  async run(shell, { session, widget }) {
    if (shell.planned(`release conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    shell.print.item(expectData(await chat.release.post({})), standing)
  },
})

export const takeoverCommands = [listTakeovers, watchTakeovers, showTranscript, takeOver, reply, release]
