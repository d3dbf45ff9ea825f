import { clean } from '../../src/kernel/text'
import { apiOf, column, columnsOf, commandsOf, defined } from '../command'
import { CommandFailed, expectData, notFoundFailure, usageFailure } from '../failure'
import { writtenText } from '../files'
import { formatOf } from '../globals'
import type { Column } from '../output/columns'
import { isStructured } from '../output/print'
import { aborted, eachEntry, everyEntry, type PageQuery, pageIn } from '../pages'
import { itemFlag, rowArgument } from '../resource'
import { LINK_FATE } from '../secret'
import { requireReason, type Shell } from '../shell'
import { choice, duration, flag, needed, optional, text } from '../words'
import { linkColumns, linkOf } from './users'

const args = {
  session: rowArgument('conversation', async (shell) =>
    (await everyEntry((input) => queueOf(shell, undefined, input))).map(({ session_id: id }) => ({ id })),
  ),
}
const ofWidget = { widget: itemFlag('widgets', 'id of the widget, the start of it, or its name') }
/** Session id for examples. */
export const SESSION = '4f0b7f0e-6f7e-4d0a-9a52-0d9f6b1f2c11'
const states = columnsOf`session_id SESSION, takeover_status STATUS`
const messageColumns = columnsOf`role WHO, content SAID, created_at AT time`

type Query = PageQuery & { takeover_status?: 'ai' | 'requested' | 'human'; status?: 'open' | 'closed' }

/** The queue of one widget. Without a widget, that of all widgets, which only operators can list. */
async function queueOf(shell: Shell, widget: string | undefined, query: Query) {
  const { api, isOperator } = await apiOf(shell)
  if (widget !== undefined) {
    return pageIn(api.iframes({ id: widget }).conversations.get({ query }), 'conversations')
  }
  if (!isOperator) throw usageFailure('Add the widget: --widget ID. svc-admin widgets list shows your widgets.')
  return pageIn((await shell.connect()).ops().takeovers.get({ query }), 'conversations')
}

/** The routes of one conversation. Looks its widget up if it is not given. */
async function chatAt(shell: Shell, session: string, widget: string | undefined) {
  const { iframes } = (await apiOf(shell)).api
  if (widget !== undefined) return iframes({ id: widget }).conversations({ sessionId: session })
  for await (const { session_id, config_id: id } of eachEntry((input) => queueOf(shell, undefined, input)))
    if (session_id === session) return iframes({ id }).conversations({ sessionId: session })
  throw notFoundFailure(`There is no conversation ${session} here.`)
}
export type ChatRoutes = Awaited<ReturnType<typeof chatAt>>

const LOOK_MS = 1_000
const SHIFT_MS = 8 * 3_600_000

const columns = columnsOf`
  session_id SESSION, takeover_status STATUS, operator.name WHO, reason WHY, message_count MESSAGES number,
  visitor.page_url PAGE wide, last_message_at LAST time, config_id WIDGET wide`
const WATCH_MS = 2_000
/** Number of messages that the AI gets for an answer (docs/api.md 22.6). */
const SEEN = 40
const whoColumns = [...states, column('operator.name', 'WHO')]

const command = commandsOf('takeovers', { apis: ['tenant', 'operator'], offline: false, columns: states, args })

const isForPrograms = (shell: Shell): boolean => isStructured(formatOf(shell.globals))
const messagesOf = async (chat: ChatRoutes) => expectData(await chat.get({ query: {} })).messages

type Taking = { session: string; steal: boolean } & Record<'widget' | 'as', string | undefined> & {
    say?: string | undefined
  }

/** The sentence about taking a conversation over. From a colleague it needs a reason. */
const takingOf = (verb: string) => (input: { session: string; steal: boolean }, shell: Shell) => {
  if (input.steal) requireReason(shell, `takeovers ${verb} --steal`)
  return `take over conversation ${input.session}`
}

/** Takes a conversation over, with `steal` also from a colleague. */
async function take(shell: Shell, { session, widget, as: operator_name, steal, say: message }: Taking) {
  const chat = await chatAt(shell, session, widget)
  const { operator } = steal ? expectData(await chat.get({ query: {} })) : { operator: null }
  if (operator) shell.confirm(`Take it from ${operator.name}? They will see that you have it.`)
  const taken = expectData(await chat.takeover.post(defined({ operator_name, message, force: steal || undefined })))
  return { chat, taken }
}

/** Prints the messages together with the result: tables list them first, structured formats add them as a member. */
function printWith(shell: Shell, messages: object[], done: object, columns: readonly Column[]): void {
  if (!isForPrograms(shell)) shell.print.list(messages, messageColumns, 'No messages yet.')
  shell.print.item({ ...done, ...(isForPrograms(shell) ? { messages } : {}) }, columns)
}

export const takeoverCommands = [
  command`list (pages items): List the conversations of widgets, last activity first
  --status requested lists those that wait for a person. On the server's machine it lists the conversations of all widgets; over --url, name one widget.
  $ takeovers list --status requested
  $ takeovers list --widget ${SESSION} --json`({
    columns,
    flags: {
      ...ofWidget,
      status: choice(['requested', 'human', 'ai'], 'only conversations in this state'),
    },
    answer: ({ shell, page }, { widget, status: takeover_status }) =>
      queueOf(shell, widget, { ...page, status: 'open', ...defined({ takeover_status }) }),
    empty: 'No conversations.',
  }),
  command`watch: Print each change of who answers a conversation
  Runs until you press Ctrl-C. With --bell the terminal rings when a visitor asks for a person. --exec runs a shell command for each change, with SVC_SESSION, SVC_WIDGET, SVC_STATUS, SVC_OPERATOR and SVC_REASON set.
  $ takeovers watch --bell
  $ takeovers watch --widget ${SESSION} --exec './page-me'`({
    columns,
    flags: {
      ...ofWidget,
      bell: flag('ring the bell when a visitor asks for a person'),
      exec: text('COMMAND', 'command to run for each change'),
    },
    async run(shell, { widget, bell, exec }) {
      const known = new Map<string, string>()
      for (let isFirst = true; !shell.signal.aborted; isFirst = false) {
        const { items } = await queueOf(shell, widget, { limit: 100, status: 'open' })
        for (const { session_id, config_id, takeover_status, operator, reason } of items) {
          const now = `${takeover_status}${operator ? ` ${operator.name}` : ''}`
          const isNew = (known.get(session_id) ?? 'ai') !== now
          known.set(session_id, now)
          if (!isNew || (isFirst && takeover_status === 'ai')) continue
          const rings = bell && takeover_status === 'requested' ? '\u0007' : ''
          shell.note(`${session_id} ${now}${reason ? `: ${reason}` : ''}`)
          if (rings) shell.io.err(rings)
          if (!exec) continue
          // Visitors' texts go into the environment, never into the command itself.
          const texts = { SVC_OPERATOR: clean(operator?.name ?? ''), SVC_REASON: clean(reason ?? '') }
          const ids = { SVC_SESSION: session_id, SVC_WIDGET: config_id, SVC_STATUS: takeover_status }
          const env = { ...process.env, ...ids, ...texts }
          const streams = { stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' } as const
          const code = await Bun.spawn(['sh', '-c', exec], { cwd: shell.cwd, env, ...streams }).exited
          if (code !== 0) shell.note(`The command ended with ${code}.`)
        }
        await shell.clock.sleep(WATCH_MS, shell.signal)
      }
    },
  }),
  command`transcript SESSION: Show the messages of a conversation
  Visitors' text is shown without control characters. --markdown prints the transcript to save or share.
  $ takeovers transcript ${SESSION} --markdown
  $ takeovers transcript ${SESSION} --json`({
    columns: messageColumns,
    flags: { ...ofWidget, markdown: flag('as Markdown') },
    async run(shell, { session, widget, markdown }) {
      const { messages } = expectData(await (await chatAt(shell, session, widget)).get({ query: {} }))
      if (!markdown) return shell.print.list(messages, messageColumns, 'No messages.')
      for (const { role, content, created_at } of messages) {
        const lines = content.split('\n').map((line) => `> ${clean(line)}`)
        shell.io.out(`**${role}** (${created_at})\n\n${lines.join('\n')}\n`)
      }
    },
  }),
  command`take SESSION: Take over a conversation; the AI is silent until you release it
  Prints the messages so far. Exits 5 when a colleague has it; --steal asks, and takes it from them. If you write nothing for thirty minutes, the AI gets it back.
  $ takeovers take ${SESSION}
  $ takeovers take ${SESSION} --as Ann --say "Ann here." --json`({
    columns: whoColumns,
    flags: {
      ...ofWidget,
      as: text('NAME', 'the name that the visitor sees; by default the name of your account, or Support'),
      say: text('TEXT', 'your first message'),
      steal: flag('take it even if a colleague has it'),
    },
    action: takingOf('take'),
    async run(shell, input) {
      const { chat, taken } = await take(shell, input)
      printWith(shell, await messagesOf(chat), taken, whoColumns)
      shell.note(`Reply: svc-admin takeovers reply ${input.session} "…"`)
    },
  }),
  command`reply SESSION: Reply in a conversation that you took over
  The text comes from the argument, from stdin in a pipe, or from $EDITOR. Exits 5 when you have not taken it over. --draft prints a reply by the AI without sending it; the widget pays for it.
  $ takeovers reply ${SESSION} "It is on its way."
  $ takeovers reply ${SESSION} --draft`({
    columns: columnsOf`content SAID, created_at AT time`,
    args: { words: optional('your reply') },
    flags: { ...ofWidget, draft: flag('print a draft by the AI without sending it') },
    action: ({ session, draft }) => (draft ? `draft a reply for ${session}` : `reply in conversation ${session}`),
    async answer({ shell, headers }, { session, words, widget, draft }): Promise<object | undefined> {
      const chat = await chatAt(shell, session, widget)
      if (!draft) {
        const content = await writtenText(shell, words, 'reply')
        return expectData(await chat.messages.post({ content }, { headers })).message
      }
      const made = expectData(await chat.draft.post(undefined, { headers }))
      if (isForPrograms(shell)) shell.print.item(made, columnsOf`draft DRAFT, cost_cents COST number`)
      else shell.io.out(made.draft.split('\n').map(clean).join('\n'))
      return undefined
    },
  }),
  command`release SESSION (exits 3): Release a conversation to the AI
  Works in every state, and prints the messages that the AI will see for its next answer.
  $ takeovers release ${SESSION}`({
    flags: ofWidget,
    action: ({ session }) => `release conversation ${session}`,
    async run(shell, { session, widget }) {
      const chat = await chatAt(shell, session, widget)
      const released = expectData(await chat.release.post({}))
      printWith(shell, (await messagesOf(chat)).slice(-SEEN), released, states)
    },
  }),
  command`attach SESSION: Answer a visitor in this terminal
  Takes the conversation over, shows new messages, and sends each line that you write. /release gives it back to the AI and /close ends it. /note TEXT is for colleagues, and /draft asks the AI for a draft. /leave or the end of input exits without giving it back.
  $ takeovers attach ${SESSION}
  $ takeovers attach ${SESSION} --as Ann --steal --reason "end of shift"`({
    flags: {
      ...ofWidget,
      as: text('NAME', 'the name that the visitor sees'),
      steal: flag('take it even if a colleague has it'),
    },
    action: takingOf('attach'),
    async run(shell, input) {
      const { chat } = await take(shell, input)
      shell.note('You have the conversation. /release gives it back; /leave exits without giving it back.')
      const over = new AbortController()
      const following = follow(shell, chat, AbortSignal.any([shell.signal, over.signal]))
      try {
        const [lines, stopped] = [shell.io.lines()[Symbol.asyncIterator](), aborted(shell.signal)]
        for (let goesOn = true; goesOn && !shell.signal.aborted; ) {
          // Undefined when the command was interrupted.
          const next = await Promise.race([lines.next(), stopped])
          goesOn = next !== undefined && !next.done && (await act(shell, chat, next.value.trim()))
        }
      } finally {
        over.abort()
        await following
      }
    },
  }),
  command`note SESSION (shows note): Write a note for colleagues about a conversation
  The visitor never sees it. The text comes from the argument, from stdin in a pipe, or from $EDITOR.
  $ takeovers note ${SESSION} "Wants a refund."
  $ takeovers note ${SESSION} "Called back" --json`({
    columns: columnsOf`author.name WHO, content NOTE, created_at AT time`,
    args: { words: optional('the note for colleagues') },
    flags: ofWidget,
    action: ({ session }) => `write a note about conversation ${session}`,
    async request({ shell }, { session, words, widget }) {
      const content = await writtenText(shell, words, 'note')
      return (await chatAt(shell, session, widget)).notes.post({ content })
    },
  }),
  command`handover SESSION: Hand your conversation over to a colleague
  TO is a member of the widget’s team, by e-mail address or id. Exits 5 when you have not taken it over.
  $ takeovers handover ${SESSION} --to priya@example.com
  $ takeovers handover ${SESSION} --to priya@example.com --note "Knows the order." --json`({
    columns: whoColumns,
    flags: {
      ...ofWidget,
      to: needed(text('PERSON', 'e-mail address or id of the colleague'), '--to priya@example.com'),
      note: text('TEXT', 'a note for them'),
    },
    action: ({ session, to }) => `hand conversation ${session} over to ${to}`,
    request: async ({ shell }, { session, widget, to, note }) =>
      (await chatAt(shell, session, widget)).handover.post(defined({ to, note })),
  }),
  command`link (operator, offline, secret once, delivers url): Create a link that signs one person in and opens the inbox
  The link works once, for 8 hours by default and 24 at most. The person needs an account: svc-admin users create.
  $ takeovers link --for priya@example.com
  $ takeovers link --for priya@example.com --ttl 30m --json`({
    columns: linkColumns,
    flags: {
      for: needed(text('PERSON', 'e-mail address or id'), '--for priya@example.com'),
      ttl: duration('DURATION', 'how long the link works, 8h by default'),
    },
    action: ({ for: person }) => `create an inbox link for ${person}`,
    fate: LINK_FATE,
    request: ({ ops }, { for: person, ttl = SHIFT_MS }) => linkOf(ops, person, { ttl, to: '/operator' }),
    shown: (made, { for: user }) => ({ user, ...made }),
  }),
]

/** Prints new messages until the signal aborts. Retries a failed call. */
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

/** Executes one typed line. Returns false when the chat ends. Prints server errors, and the chat continues. */
async function act(shell: Shell, chat: ChatRoutes, line: string): Promise<boolean> {
  const [, step, words = ''] = /^\/(leave|release|close|draft|note)(?: (.*))?$/.exec(line) ?? []
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
