import { randomBase62 } from '../../src/kernel/crypto'
import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { isStructured } from '../output/print'
import { pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import {
  type ChatRoutes,
  chatAt,
  ofWidget,
  queueOf,
  SESSION,
  sessionArgs,
  statedColumns,
  states,
  takeoverWords,
} from '../takeover-at'
import { choice, flag, optional, text } from '../words'
import { writtenText } from '../write-text'
import { takeoverPeopleCommands } from './takeovers-people'

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
const common = { ...takeoverWords, columns } as const
const WATCH_MS = 2_000
/** How many messages an answer of the AI sees (contract 22.6). */
const SEEN = 40

const listTakeovers = defineCommand({
  ...common,
  path: 'takeovers list',
  summary: 'List the conversations of widgets, last activity first',
  about:
    "--status requested lists those that wait for a person. On the server's machine it lists the conversations of all widgets; over --url, name one widget.",
  examples: ['takeovers list --status requested', `takeovers list --widget ${SESSION} --json`],
  impact: 'read',
  exits: [3],
  watchable: true,
  flags: {
    ...ofWidget,
    status: choice(['requested', 'human', 'ai'], 'only conversations in this state'),
    ...pageFlags,
  },
  async run(shell, { widget, status, ...paging }) {
    const only = status ? { takeover_status: status } : {}
    await printPages(shell, paging, {
      page: async (input) => {
        const found = await queueOf(shell, widget, { ...input, status: 'open', ...only })
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
  summary: 'Print each change of who answers a conversation',
  about:
    'Runs until you press Ctrl-C. With --bell the terminal rings when a visitor asks for a person. --exec runs a shell command for each change, with SVC_SESSION, SVC_WIDGET, SVC_STATUS, SVC_OPERATOR and SVC_REASON set.',
  examples: ['takeovers watch --bell', `takeovers watch --widget ${SESSION} --exec './page-me'`],
  impact: 'read',
  exits: [3],
  flags: {
    ...ofWidget,
    bell: flag('ring the bell when a visitor asks for a person'),
    exec: text('COMMAND', 'command to run for each change'),
  },
  async run(shell, { widget, bell, exec }) {
    const known = new Map<string, string>()
    for (let isFirst = true; !shell.signal.aborted; isFirst = false) {
      const { conversations } = await queueOf(shell, widget, { limit: 100, status: 'open' })
      for (const { session_id, config_id, takeover_status, operator, reason } of conversations) {
        const now = `${takeover_status}${operator ? ` ${operator.name}` : ''}`
        const isNew = (known.get(session_id) ?? 'ai') !== now
        known.set(session_id, now)
        if (!isNew || (isFirst && takeover_status === 'ai')) continue
        const rings = bell && takeover_status === 'requested' ? '\u0007' : ''
        shell.note(`${session_id} ${now}${reason ? `: ${reason}` : ''}`)
        if (rings) shell.io.err(rings)
        const notice = { SVC_SESSION: session_id, SVC_WIDGET: config_id, SVC_STATUS: takeover_status }
        if (exec) await runFor(shell, exec, { ...notice, SVC_OPERATOR: operator?.name ?? '', SVC_REASON: reason ?? '' })
      }
      await shell.clock.sleep(WATCH_MS, shell.signal)
    }
  },
})

/** What visitors wrote goes into the environment, never into the command itself. */
async function runFor(shell: Shell, command: string, notice: Record<string, string>): Promise<void> {
  const cleaned = Object.fromEntries(Object.entries(notice).map(([name, value]) => [name, clean(value)]))
  const child = Bun.spawn(['sh', '-c', command], {
    cwd: shell.cwd,
    env: { ...process.env, ...cleaned },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const code = await child.exited
  if (code !== 0) shell.note(`The command ended with ${code}.`)
}

const showTranscript = defineCommand({
  ...common,
  columns: statedColumns,
  path: 'takeovers transcript',
  summary: 'Show the messages of a conversation',
  about: "Visitors' text is shown without control characters. --markdown prints the transcript to save or share.",
  examples: [`takeovers transcript ${SESSION} --markdown`, `takeovers transcript ${SESSION} --json`],
  impact: 'read',
  exits: [3],
  args: sessionArgs,
  flags: { ...ofWidget, markdown: flag('as Markdown') },
  async run(shell, { session, widget, markdown }) {
    const { chat } = await chatAt(shell, session, widget)
    const { messages } = expectData(await chat.get({ query: {} }))
    if (!markdown) shell.print.list(messages, statedColumns, 'No messages.')
    else
      for (const { role, content, created_at } of messages)
        shell.io.out(
          `**${role}** (${created_at})\n\n${content
            .split('\n')
            .map((line) => `> ${clean(line)}`)
            .join('\n')}\n`,
        )
  },
})

const isForPrograms = (shell: Shell): boolean => isStructured(formatOf(shell.globals))
const messagesOf = async (chat: ChatRoutes) => expectData(await chat.get({ query: {} })).messages

const takenColumns = [...states, column('operator.name', 'WHO')]
const takeOver = defineCommand({
  ...common,
  columns: takenColumns,
  path: 'takeovers take',
  summary: 'Take over a conversation; the AI is silent until you release it',
  about:
    'Prints the messages so far. Exits 5 when a colleague has it; --steal asks, and takes it from them. If you write nothing for thirty minutes, the AI gets it back.',
  examples: [`takeovers take ${SESSION}`, `takeovers take ${SESSION} --as Ann --say "Ann here." --json`],
  impact: 'write',
  exits: [3, 5],
  args: sessionArgs,
  flags: {
    ...ofWidget,
    as: text('NAME', 'the name that the visitor sees; by default the name of your account, or Support'),
    say: text('TEXT', 'your first message'),
    steal: flag('take it even if a colleague has it'),
  },
  async run(shell, { session, widget, as: operator_name, say: message, steal }) {
    if (steal) requireReason(shell, 'takeovers take --steal')
    if (shell.planned(`take over conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const input = {
      ...(operator_name === undefined ? {} : { operator_name }),
      ...(message === undefined ? {} : { message }),
      ...(steal ? { force: true } : {}),
    }
    const { operator } = steal ? expectData(await chat.get({ query: {} })) : { operator: null }
    if (operator) shell.confirm(`Take it from ${operator.name}? They will see that you have it.`)
    const taken = expectData(await chat.takeover.post(input))
    const messages = await messagesOf(chat)
    if (!isForPrograms(shell)) shell.print.list(messages, statedColumns, 'No messages yet.')
    shell.print.item({ ...taken, ...(isForPrograms(shell) ? { messages } : {}) }, takenColumns)
    shell.note(`Reply: svc-admin takeovers reply ${session} "…"`)
  },
})

const draftColumns = [column('draft', 'DRAFT'), column('cost_cents', 'COST', { kind: 'number' })]
const repliedColumns = [column('content', 'SAID'), column('created_at', 'AT', { kind: 'time' })]
const reply = defineCommand({
  ...common,
  columns: repliedColumns,
  path: 'takeovers reply',
  summary: 'Reply in a conversation that you took over',
  about:
    'The text comes from the argument, from stdin in a pipe, or from $EDITOR. Exits 5 when you have not taken it over. --draft prints a reply by the AI without sending it; the widget pays for it.',
  examples: [`takeovers reply ${SESSION} "It is on its way."`, `takeovers reply ${SESSION} --draft`],
  impact: 'write',
  exits: [3, 5],
  args: { ...sessionArgs, words: optional('your reply') },
  flags: { ...ofWidget, draft: flag('print a draft by the AI without sending it') },
  async run(shell, { session, words, widget, draft }) {
    if (shell.planned(draft ? `draft a reply for ${session}` : `reply in conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    if (draft) {
      const made = expectData(await chat.draft.post(undefined, { headers }))
      if (isForPrograms(shell)) shell.print.item(made, draftColumns)
      else shell.io.out(made.draft.split('\n').map(clean).join('\n'))
      return
    }
    const content = await writtenText(shell, words, 'reply')
    shell.print.item(expectData(await chat.messages.post({ content }, { headers })).message, repliedColumns)
  },
})

const release = defineCommand({
  ...common,
  columns: states,
  path: 'takeovers release',
  summary: 'Release a conversation to the AI',
  about: 'Works in every state, and prints the messages that the AI will see for its next answer.',
  examples: [`takeovers release ${SESSION}`, `takeovers release ${SESSION} --json`],
  impact: 'write',
  exits: [3],
  args: sessionArgs,
  flags: ofWidget,
  async run(shell, { session, widget }) {
    if (shell.planned(`release conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const released = expectData(await chat.release.post({}))
    const messages = await messagesOf(chat)
    if (!isForPrograms(shell)) shell.print.list(messages.slice(-SEEN), statedColumns, 'No messages yet.')
    shell.print.item({ ...released, ...(isForPrograms(shell) ? { messages: messages.slice(-SEEN) } : {}) }, states)
  },
})

export const takeoverCommands = [
  listTakeovers,
  watchTakeovers,
  showTranscript,
  takeOver,
  reply,
  release,
  ...takeoverPeopleCommands,
]
