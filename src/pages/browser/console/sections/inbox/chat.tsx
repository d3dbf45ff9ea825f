import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Member } from '../../../../../accounts/orgs/schema'
import { whileTyping } from '../../../shared/dom'
import { type Failure, useCalls } from '../../shell/api'
import { keep, recall } from '../../shell/value'
import { Button, Menu, SendForm } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Time } from '../../ui/format'
import { Markdown } from '../../ui/markdown'
import { Failed, type Problem } from '../../ui/states'
import { type Chat, isMine, pathOf, type Transcript } from './wire'

type Props = {
  chat: Transcript
  /** Name of the widget. */
  name: string
  isTyping: boolean
  people: readonly Member[]
  /** Other conversations of the visitor. */
  earlier: readonly Chat[]
  choose(chat: Chat | null): void
  hurry(): void
}

const NEAR_END = 80

/** The open conversation: who has it, its messages, the reply, and the visitor's facts. */
export function Conversation({ chat, name, isTyping, people, earlier, choose, hurry }: Props) {
  const calls = useCalls()
  const [problem, setProblem] = useState<Problem | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const path = `/iframes/${chat.config_id}/conversations/${chat.session_id}`
  const post = <T,>(verb: string, body: object) => calls.json<T>('POST', `${path}/${verb}`, { body })
  const act = (verb: string, body: object = {}) => {
    setProblem(null)
    post(verb, body).then(hurry, (error: Problem) => {
      setProblem(error)
      hurry()
    })
  }
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const mine = chat.status === 'open' && isMine(chat)
  const wasMine = useRef(mine)
  const [taken, setTaken] = useState('')
  useEffect(() => {
    if (wasMine.current && !mine && chat.takeover_status === 'human')
      setTaken(`${chat.operator?.name ?? 'Somebody'} has this chat now.`)
    wasMine.current = mine
  }, [mine, chat.takeover_status, chat.operator])
  return (
    <>
      <section className="card desk" aria-label="Conversation">
        <header className="desk-head">
          <Button className="back" onClick={() => choose(null)}>
            All conversations
          </Button>
          <h2 ref={heading} tabIndex={-1}>
            {name}: {pathOf(chat)}
          </h2>
          <Buttons chat={chat} act={act} />
        </header>
        {chat.status === 'open' && chat.visitor_left_at && (
          <p className="notice warn banner" role="status">
            The visitor left at <Time at={chat.visitor_left_at} />. They will see what you write when they return.
          </p>
        )}
        {taken && (
          <p className="notice warn banner" role="status">
            {taken}
          </p>
        )}
        {problem && <Failed problem={problem} />}
        <Messages chat={chat} />
        <p className="typing faint" role="status">
          {isTyping && 'The visitor is writing'}
        </p>
        {mine && (
          <Reply chat={chat} post={post} people={people} handover={(to) => act('handover', { to })} hurry={hurry} />
        )}
      </section>
      <section className="card about" aria-label="About the visitor">
        <About chat={chat} earlier={earlier} choose={choose} />
        <Notes chat={chat} save={(content) => post('notes', { content }).then(hurry)} />
      </section>
    </>
  )
}

function Buttons({ chat, act }: { chat: Transcript; act(verb: string, body?: object): void }) {
  if (chat.status === 'closed') return null
  const other = chat.takeover_status === 'human' && !isMine(chat)
  return (
    <div className="actions buttons">
      {isMine(chat) ? (
        <Button kind="primary" onClick={() => act('release')}>
          Hand back to the assistant
        </Button>
      ) : (
        <Button kind={other ? 'quiet' : 'primary'} onClick={() => act('takeover', other ? { force: true } : {})}>
          {other ? `Take from ${chat.operator?.name ?? 'a person'}` : 'Take over'}
        </Button>
      )}
      <Button onClick={() => act('close')}>Close the chat</Button>
    </div>
  )
}

const SPEAKERS = { user: 'Visitor', assistant: 'Assistant (AI)', operator: 'Person', system: '' } as const

function Messages({ chat }: { chat: Transcript }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message is scrolled to, unless the reader is elsewhere
  useEffect(() => {
    const { current } = box
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight
  }, [chat.messages.length])
  return (
    <div
      ref={box}
      className="transcript"
      tabIndex={0}
      role="group"
      aria-label="Messages"
      onScroll={({ currentTarget: it }) => {
        isAtEnd.current = it.scrollHeight - it.scrollTop - it.clientHeight < NEAR_END
      }}
    >
      <div className="log" role="log" aria-label="Messages">
        {chat.messages.map((message) => (
          <article key={message.id} className={`message ${message.role}`}>
            {message.role !== 'system' && (
              <p className="speaker">
                {message.role === 'operator' ? (chat.operator?.name ?? 'Person') : SPEAKERS[message.role]},{' '}
                <Time at={message.created_at} />
              </p>
            )}
            <div className="text" dir="auto">
              {message.role === 'user' || message.role === 'system' ? (
                message.content
              ) : (
                <Markdown text={message.content} />
              )}
            </div>
            {message.artifacts.map((file) => (
              <FileLink key={String(file.url)} {...file} />
            ))}
          </article>
        ))}
      </div>
    </div>
  )
}

/** A picture of the visitor or a file of the assistant. Opens on a click. */
function FileLink({ url, title, filename }: { url?: unknown; title?: unknown; filename?: unknown }) {
  if (typeof url !== 'string' || !/^(?:https?:\/\/|\/)/.test(url)) return null
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        {String(title ?? filename ?? 'File')}
      </a>
    </p>
  )
}

const MAX_SAVED = 50

type ReplyProps = {
  chat: Transcript
  post<T>(verb: string, body: object): Promise<T>
  people: readonly Member[]
  handover(to: string): void
  hurry(): void
}

/** The reply with its draft, which this browser stores, and the saved replies. */
function Reply({ chat, post, people, handover, hurry }: ReplyProps) {
  const draft = `inbox:draft:${chat.session_id}`
  const [text, setText] = useState(() => recall(draft, ''))
  const [saved, setSaved] = useState(() => recall<string[]>('inbox:canned', []))
  const [to, setTo] = useState('')
  const [news, setNews] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const tell = useRef(() => {})
  tell.current = () => void post('typing', {}).catch(() => undefined)
  useEffect(() => whileTyping(field.current!, () => tell.current()), [])
  // After “Take over” the person can type at once, and a second Enter does not hand the chat back.
  useEffect(() => void (document.activeElement?.closest('.buttons') && field.current!.focus()), [])
  const write = (next: string) => {
    setText(next)
    keep(draft, next)
  }
  const insert = (more: string, between: string) => {
    write(text ? `${text}${between}${more}` : more)
    field.current?.focus()
  }
  const keepSaved = (next: string[]) => {
    setSaved(next)
    keep('inbox:canned', next)
  }
  const sending = useMutation<unknown, Failure, string>({
    mutationFn: (content) => post('messages', { content }),
    onSuccess: () => {
      setText('')
      keep(draft, null)
      hurry()
    },
    onSettled: () => field.current?.focus(),
  })
  const drafting = useMutation<{ draft: string }, Failure>({
    mutationFn: () => post('draft', {}),
    onMutate: () => setNews('The assistant is writing a draft.'),
    onSuccess: (answer) => {
      insert(answer.draft, '\n')
      setNews('A draft is in the field. Nothing was sent.')
    },
    onError: () => setNews(''),
  })
  const problem = sending.error ?? drafting.error
  const send = () => text.trim() && !sending.isPending && !drafting.isPending && sending.mutate(text.trim())
  return (
    <SendForm className="reply" aria-label="Your reply" onSend={() => send()}>
      <label htmlFor="reply">Your reply</label>
      <textarea
        id="reply"
        ref={field}
        rows={3}
        value={text}
        onChange={({ target }) => write(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {problem && <Failed problem={problem} />}
      <div className="actions">
        <Button type="submit" kind="primary" busy={sending.isPending}>
          Send
        </Button>
        <Button className="draft" busy={drafting.isPending} onClick={() => drafting.mutate()}>
          Draft by the assistant
        </Button>
        <Menu
          aria-label="Saved replies"
          value=""
          choices={[['', 'Insert a saved reply'], ...saved.map((reply) => [reply, reply.slice(0, 60)] as const)]}
          onChange={(reply) => insert(reply, ' ')}
          disabled={saved.length === 0}
        />
        <Button
          kind="plain"
          onClick={() => {
            const reply = text.trim()
            if (reply)
              keepSaved(
                saved.includes(reply) ? saved.filter((it) => it !== reply) : [reply, ...saved].slice(0, MAX_SAVED),
              )
          }}
        >
          {saved.includes(text.trim()) ? 'Delete this reply' : 'Save this text'}
        </Button>
        {people.length > 0 && (
          <>
            <Menu
              {...{ id: 'handover', 'aria-label': 'Hand over to', value: to, onChange: setTo }}
              choices={[['', 'Hand over to…'], ...people.map((it) => [it.user_id, it.name ?? it.email] as const)]}
            />
            {to && <Button onClick={() => handover(to)}>Hand over</Button>}
          </>
        )}
      </div>
      <p className="hidden" role="status">
        {news}
      </p>
    </SendForm>
  )
}

type AboutProps = { chat: Transcript; earlier: readonly Chat[]; choose(chat: Chat): void }

function About({ chat, earlier, choose }: AboutProps) {
  const { visitor, created_at, reason } = chat
  const { identity, context, page_url: page } = visitor
  const names = [identity?.name, identity?.email, identity?.external_id].filter(Boolean).join(', ')
  const isLink = page !== null && /^https?:\/\//.test(page)
  return (
    <>
      <h2>About the visitor</h2>
      <Facts
        of={{
          Who: identity && `${names} (${identity.verified ? 'verified by your server' : 'sent by the page'})`,
          Page: isLink ? (
            <a href={page} target="_blank" rel="noopener noreferrer">
              {pathOf(chat)}
            </a>
          ) : (
            pathOf(chat)
          ),
          Began: <Time at={created_at} />,
          Browser: visitor.user_agent ?? 'not known',
          ...Object.fromEntries(Object.entries(context ?? {}).map(([name, value]) => [name, String(value)])),
          'Asked for a person because': reason,
          'Earlier chats':
            earlier.length === 0
              ? 'none'
              : earlier.map((other) => (
                  <Button key={other.session_id} kind="plain" onClick={() => choose(other)}>
                    <Time at={other.created_at} />
                  </Button>
                )),
        }}
      />
    </>
  )
}

/** Notes that colleagues write for each other about the open chat. */
function Notes({ chat, save }: { chat: Transcript; save(text: string): Promise<unknown> }) {
  const [text, setText] = useState('')
  const note = useMutation<unknown, Failure, string>({ mutationFn: save, onSuccess: () => setText('') })
  return (
    <>
      <h2>Notes for colleagues</h2>
      {chat.notes.length > 0 && (
        <ul className="notes">
          {chat.notes.map(({ id, author, content, created_at }) => (
            <li key={id}>
              <p className="faint">
                {author.name}, <Time at={created_at} />
              </p>
              <p>{content}</p>
            </li>
          ))}
        </ul>
      )}
      <SendForm className="note form" onSend={() => text.trim() && note.mutate(text.trim())}>
        <label className="field" htmlFor="note">
          A note; the visitor never sees it
        </label>
        <textarea id="note" rows={2} value={text} onChange={({ target }) => setText(target.value)} />
        {note.error && <Failed problem={note.error} />}
        <div className="actions">
          <Button type="submit">Add the note</Button>
        </div>
      </SendForm>
    </>
  )
}
