import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import { CommandFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { SECRET_FLAGS } from '../secret'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import { type ChatRoutes, chatAt, ofWidget, SESSION, sessionArgs, states, takeoverWords } from '../takeover-at'
import { duration, flag, optional, text } from '../words'
import { writtenText } from '../write-text'
import { deliverLink, linkColumns } from './users-ways'

const LOOK_MS = 1_000
const SHIFT_MS = 8 * 3_600_000
const STEP = /^\/(leave|release|close|draft|note)(?: (.*))?$/

const attach = defineCommand({
  ...takeoverWords,
  columns: states,
  path: 'takeovers attach',
  summary: 'Answer a visitor in this terminal',
  about:
    'Takes the conversation over, shows new messages, and sends each line that you write. /release gives it back to the AI and /close ends it. /note TEXT is for colleagues, and /draft asks the AI for a draft. /leave or the end of input exits without giving it back.',
  examples: [`takeovers attach ${SESSION}`, `takeovers attach ${SESSION} --as Ann --steal --reason "end of shift"`],
  impact: 'write',
  exits: [3, 5],
  args: sessionArgs,
  flags: {
    ...ofWidget,
    as: text('NAME', 'the name that the visitor sees'),
    steal: flag('take it even if a colleague has it'),
  },
  async run(shell, { session, widget, as: operator_name, steal }) {
    if (steal) requireReason(shell, 'takeovers attach --steal')
    if (shell.planned(`take over conversation ${session}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const { operator } = steal ? expectData(await chat.get({ query: {} })) : { operator: null }
    if (operator) shell.confirm(`Take it from ${operator.name}? They will see that you have it.`)
    const input = { ...(operator_name === undefined ? {} : { operator_name }), ...(steal ? { force: true } : {}) }
    expectData(await chat.takeover.post(input))
    shell.note('You have the conversation. /release gives it back; /leave exits without giving it back.')
    const over = new AbortController()
    const following = follow(shell, chat, AbortSignal.any([shell.signal, over.signal]))
    try {
      for await (const line of typed(shell)) if (!(await act(shell, chat, line.trim()))) break
    } finally {
      over.abort()
      await following
    }
  },
})

/** Lines until the input ends or the command is interrupted. */
async function* typed({ io, signal }: Shell): AsyncGenerator<string> {
  const lines = io.lines()[Symbol.asyncIterator]()
  const stopped = new Promise<{ done: true; value: undefined }>((resolve) => {
    signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true })
  })
  while (!signal.aborted) {
    const next = await Promise.race([lines.next(), stopped])
    if (next.done) return
    yield next.value
  }
}

/** Prints what is said until the signal aborts; a call that fails is made again. */
async function follow(shell: Shell, chat: ChatRoutes, signal: AbortSignal): Promise<void> {
  let after: string | undefined
  while (!signal.aborted) {
    const found = await chat.get({ query: after === undefined ? {} : { after } }).catch(() => null)
    for (const { id, role, content } of found?.data?.messages ?? []) {
      after = id
      for (const line of content.split('\n')) shell.io.out(clean(`${role === 'user' ? 'visitor' : role}: ${line}`))
    }
    await shell.clock.sleep(LOOK_MS, signal)
  }
}

/** False when the chat is left. What the server refuses is said, and the chat goes on. */
async function act(shell: Shell, chat: ChatRoutes, line: string): Promise<boolean> {
  const [, step, words = ''] = STEP.exec(line) ?? []
  try {
    if (line === '') return true
    if (step === 'release') expectData(await chat.release.post({}))
    else if (step === 'close') expectData(await chat.close.post())
    else if (step === 'note') expectData(await chat.notes.post({ content: words }))
    else if (step === 'draft') shell.io.out(clean(`draft: ${expectData(await chat.draft.post()).draft}`))
    else if (line.startsWith('/') && step === undefined) shell.note('Steps: /release /close /note TEXT /draft /leave')
    else if (step === undefined) expectData(await chat.messages.post({ content: line }))
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    shell.note(error.message)
    return true
  }
  return step === undefined || step === 'note' || step === 'draft'
}

const noteColumns = [
  column('author.name', 'WHO'),
  column('content', 'NOTE'),
  column('created_at', 'AT', { kind: 'time' }),
]
const note = defineCommand({
  ...takeoverWords,
  columns: noteColumns,
  path: 'takeovers note',
  summary: 'Write a note for colleagues about a conversation',
  about: 'The visitor never sees it. The text comes from the argument, from stdin in a pipe, or from $EDITOR.',
  examples: [`takeovers note ${SESSION} "Wants a refund."`, `takeovers note ${SESSION} "Called back" --json`],
  impact: 'write',
  exits: [3, 5],
  args: { ...sessionArgs, words: optional('the note for colleagues') },
  flags: ofWidget,
  async run(shell, { session, words, widget }) {
    if (shell.planned(`write a note about conversation ${session}`)) return
    const content = await writtenText(shell, words, 'note')
    const { chat } = await chatAt(shell, session, widget)
    shell.print.item(expectData(await chat.notes.post({ content })).note, noteColumns)
  },
})

const handedColumns = [...states, column('operator.name', 'WHO')]
const handover = defineCommand({
  ...takeoverWords,
  columns: handedColumns,
  path: 'takeovers handover',
  summary: 'Hand your conversation over to a colleague',
  about: 'TO is a member of the widget\u2019s team, by e-mail address or id. Exits 5 when you have not taken it over.',
  examples: [
    `takeovers handover ${SESSION} --to priya@example.com`,
    `takeovers handover ${SESSION} --to priya@example.com --note "Knows the order." --json`,
  ],
  impact: 'write',
  exits: [3, 5],
  args: sessionArgs,
  flags: {
    ...ofWidget,
    to: text('PERSON', 'e-mail address or id of the colleague'),
    note: text('TEXT', 'a note for them'),
  },
  async run(shell, { session, widget, to, note: words }) {
    if (to === undefined) throw usageFailure('takeovers handover needs --to.', '--to priya@example.com')
    if (shell.planned(`hand conversation ${session} over to ${to}`)) return
    const { chat } = await chatAt(shell, session, widget)
    const input = { to, ...(words === undefined ? {} : { note: words }) }
    shell.print.item(expectData(await chat.handover.post(input)), handedColumns)
  },
})

const link = defineCommand({
  apis: ['operator'],
  danger: 'secret once',
  columns: linkColumns,
  path: 'takeovers link',
  summary: 'Create a link that signs one person in and opens the inbox',
  about:
    'The link works once, for 8 hours by default and 24 at most. The person needs an account: svc-admin users create.',
  examples: ['takeovers link --for priya@example.com', 'takeovers link --for priya@example.com --ttl 30m --json'],
  impact: 'write',
  exits: [3, 5],
  flags: {
    for: text('PERSON', 'e-mail address or id'),
    ttl: duration('DURATION', 'how long the link works, 8h by default'),
    ...SECRET_FLAGS,
  },
  async run(shell, { for: person, ttl = SHIFT_MS, ...methods }) {
    if (person === undefined) throw usageFailure('takeovers link needs --for.', '--for priya@example.com')
    if (shell.planned(`create an inbox link for ${person}`)) return
    await deliverLink(shell, person, { ttl, to: '/operator' }, methods)
  },
})

export const takeoverPeopleCommands = [attach, note, handover, link]
