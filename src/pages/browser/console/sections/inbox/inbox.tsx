import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation, useParams, useSearch } from 'wouter'
import type { Member } from '../../../../../accounts/orgs/schema'
import type { Widget } from '../../../../../widgets/schema'
import { useGet, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { useKeys } from '../../shell/keys'
import { Page } from '../../shell/page'
import { keep, recall } from '../../shell/value'
import { Check, Chip, Choices } from '../../ui/controls'
import { FilterBar, useFilters } from '../../ui/filters'
import { Ago, Lasting, plural } from '../../ui/format'
import { Loading } from '../../ui/states'
import { Conversation } from './chat'
import { type Chat, isMine, isSameVisitor, isWaiting, keyOf, pathOf, useInbox } from './wire'

const WHICH = { waiting: 'Waiting', mine: 'Mine', '': 'All', closed: 'Closed' } as const
const STATES: Record<string, (chat: Chat) => boolean> = {
  waiting: isWaiting,
  mine: isMine,
  closed: ({ status }) => status === 'closed',
}

/** The screen for answering visitors: the queue, the open conversation, and the visitor. */
export default function Inbox() {
  const owner = useOwner()
  const [, navigate] = useLocation()
  const search = useSearch()
  const { id: open = null } = useParams<{ id?: string }>()
  const { filters, set, clear } = useFilters()
  const { chats, chat, isTyping, isLost, isGone, hurry } = useInbox(open)
  const widgets = useGet<{ configs: Widget[] }>('/iframes', { limit: 100 })
  const team = useGet<{ members: Member[] }>(`/orgs/${owner.id}/members`, {}, { off: owner.id === null })
  const nameOf = (id: string) => widgets.data?.configs.find((widget) => widget.id === id)?.name ?? 'Widget'
  const [seen, setSeen] = useState(() => recall<Record<string, number>>('inbox:seen', {}))
  const waiting = chats?.filter(isWaiting) ?? []
  const alerts = useAlerts(waiting.map(({ session_id }) => session_id))
  const since = useSince(waiting.map(({ session_id }) => session_id).join())
  const chosen = chats?.find((it) => keyOf(it) === open)
  const count = Math.max(chosen?.message_count ?? 0, chat?.messages.length ?? 0)
  useEffect(() => {
    if (!chosen) return
    setSeen((now) => {
      const next = { ...now, [chosen.session_id]: count }
      keep('inbox:seen', next)
      return next
    })
  }, [chosen, count])
  const go = (id: string | null) => navigate(`/${owner.slug}/inbox${id ? `/${id}` : ''}${search && `?${search}`}`)
  const wanted = filters.q?.toLowerCase() ?? ''
  const query = { q: wanted, state: filters.state === 'closed' ? 'closed' : 'all', limit: 100 }
  const found = useGet<{ takeovers: Chat[] }>('/takeovers', query, { off: wanted.length < 2 })
  const said = new Set(wanted.length < 2 ? [] : found.data?.takeovers.map(({ session_id }) => session_id))
  const shown = chats?.filter(
    (it) =>
      (STATES[filters.state ?? '']?.(it) ?? true) &&
      (!wanted || said.has(it.session_id) || textOf(it, nameOf).includes(wanted)),
  )
  useKeys([
    { keys: 'Alt+ArrowDown', label: 'Next conversation', run: () => walk(1) },
    { keys: 'Alt+ArrowUp', label: 'Conversation before', run: () => walk(-1) },
    { keys: 'Alt+T', label: 'Take over', run: () => document.querySelector<HTMLElement>('.buttons .primary')?.click() },
  ])
  function walk(by: number): void {
    const at = shown?.findIndex((it) => keyOf(it) === open) ?? -1
    const next = shown?.[at < 0 ? 0 : at + by]
    if (next) go(keyOf(next))
  }
  const lead = waiting.length && !alerts.isDark ? `${waiting.length} waiting` : undefined
  return (
    <Page title="Inbox" isFull {...(lead ? { lead } : {})} actions={alerts.switches}>
      <p className="summary" role="status">
        {waiting.length > 0 &&
          (waiting.length === 1 ? '1 visitor is waiting' : `${waiting.length} visitors are waiting`)}
        {isLost && ' ○ The connection is lost. Your draft is saved. Reconnecting.'}
        {isGone && 'This chat no longer exists.'}
      </p>
      <p className="hidden" aria-live="assertive">
        {alerts.news}
      </p>
      <div className={open ? 'inbox open' : 'inbox'}>
        <nav className="card queue-box" aria-label="Conversations">
          <FilterBar
            filters={[{ name: 'q', label: 'Page, name or reason', hint: 'Search in chats' }]}
            values={filters}
            onChange={set}
            onClear={clear}
          />
          <Choices
            label="Which conversations"
            value={filters.state ?? ''}
            choices={WHICH}
            onChange={(state) => set({ state })}
          />
          {shown === undefined && <Loading rows={4} />}
          {chats?.length === 0 && <p className="faint none">Nobody is waiting. No messages yet.</p>}
          {chats && chats.length > 0 && shown?.length === 0 && <p className="faint none">No conversation matches.</p>}
          <ul className="queue">
            {shown?.map((it) => (
              <li key={it.session_id}>
                <Row
                  chat={it}
                  name={nameOf(it.config_id)}
                  isOpen={keyOf(it) === open}
                  unread={keyOf(it) === open ? 0 : it.message_count - (seen[it.session_id] ?? 0)}
                  since={isWaiting(it) ? since.get(it.session_id) : undefined}
                  choose={() => go(keyOf(it))}
                />
              </li>
            ))}
          </ul>
        </nav>
        {chat && keyOf(chat) === open ? (
          <Conversation
            key={open}
            chat={chat}
            name={nameOf(chat.config_id)}
            isTyping={isTyping}
            people={team.data?.members.filter(({ user_id }) => user_id !== boot.user.id) ?? []}
            earlier={chats?.filter((it) => it.session_id !== chat.session_id && isSameVisitor(it, chat)) ?? []}
            choose={(it) => go(it && keyOf(it))}
            hurry={hurry}
          />
        ) : (
          <section className="card desk none" aria-label="Conversation">
            {open && !isGone ? <Loading rows={6} /> : <p className="faint">Choose a conversation.</p>}
          </section>
        )}
      </div>
    </Page>
  )
}

const textOf = (chat: Chat, nameOf: (id: string) => string): string => {
  const { identity } = chat.visitor
  return [pathOf(chat), nameOf(chat.config_id), identity?.name, identity?.email, chat.reason].join(' ').toLowerCase()
}

type RowProps = { chat: Chat; name: string; isOpen: boolean; unread: number; since: string | undefined; choose(): void }

function Row({ chat, name, isOpen, unread, since, choose }: RowProps) {
  const who = chat.visitor.identity?.name ?? chat.visitor.identity?.email ?? name
  return (
    <button type="button" aria-current={isOpen ? 'true' : undefined} onClick={choose}>
      <strong>{who}</strong>
      <State chat={chat} />
      <span className="faint">
        {since ? <Lasting since={since} /> : <Ago at={chat.last_message_at ?? chat.created_at} />} · {pathOf(chat)}
      </span>
      {unread > 0 && <span className="count">{unread} new</span>}
    </button>
  )
}

function State({ chat }: { chat: Chat }) {
  if (chat.status === 'closed') return <Chip state="off">closed</Chip>
  if (chat.takeover_status === 'requested') return <Chip state="warn">waiting</Chip>
  if (chat.takeover_status === 'ai') return <Chip state="run">assistant</Chip>
  return <Chip state="live">{isMine(chat) ? 'with you' : `with ${chat.operator?.name ?? 'a person'}`}</Chip>
}

/** Since when each waiting visitor has been waiting. Read again whenever the set of waiting visitors changes. */
function useSince(ids: string): ReadonlyMap<string, string> {
  const client = useQueryClient()
  const { data } = useGet<{ takeovers: { session_id: string; waiting_since: string | null }[] }>(
    '/takeovers',
    { state: 'waiting', limit: 100 },
    { off: ids === '' },
  )
  const last = useRef(ids)
  useEffect(() => {
    if (last.current === ids) return
    last.current = ids
    const counted = ['/takeovers', '/needs']
    void client.invalidateQueries({ predicate: ({ queryKey }) => counted.includes(String(queryKey[1])) })
  }, [client, ids])
  return new Map(data?.takeovers.flatMap(({ session_id: id, waiting_since: at }) => (at ? [[id, at] as const] : [])))
}

const BEEP = { hertz: 660, seconds: 0.18, volume: 0.08 }

function beep(): void {
  const audio = new AudioContext()
  const [tone, volume] = [audio.createOscillator(), audio.createGain()]
  tone.frequency.value = BEEP.hertz
  volume.gain.value = BEEP.volume
  tone.connect(volume).connect(audio.destination)
  tone.start()
  tone.stop(audio.currentTime + BEEP.seconds)
  tone.onended = () => void audio.close()
}

const BLINK_MS = 1_000

/** Announces waiting visitors: once per visitor to screen readers, and by sound and a blinking title if enabled. */
function useAlerts(ids: readonly string[]) {
  const [sound, setSound] = useState(() => recall('inbox:sound', false))
  const [blink, setBlink] = useState(() => recall('inbox:blink', false))
  const [isDark, setDark] = useState(false)
  const [news, setNews] = useState('')
  const known = useRef(new Set<string>())
  const all = ids.join()
  useEffect(() => {
    const now = all ? all.split(',') : []
    const fresh = now.filter((id) => !known.current.has(id))
    known.current = new Set(now)
    if (fresh.length === 0) return
    setNews(`${plural(fresh.length, 'visitor')} ${fresh.length === 1 ? 'is' : 'are'} waiting for a person.`)
    if (sound) beep()
  }, [all, sound])
  useEffect(() => {
    if (!blink || !all) return setDark(false)
    const timer = setInterval(() => setDark((dark) => !dark), BLINK_MS)
    return () => clearInterval(timer)
  }, [blink, all])
  const choose = (name: 'sound' | 'blink', is: boolean) => {
    keep(`inbox:${name}`, is || null)
    if (name === 'sound') setSound(is)
    else setBlink(is)
    if (is && name === 'sound') beep()
  }
  const switches = (
    <>
      <Check label="Sound" checked={sound} onChange={(is) => choose('sound', is)} />
      <Check label="Blinking title" checked={blink} onChange={(is) => choose('blink', is)} />
    </>
  )
  return { isDark, news, switches }
}
