/** The inbox of those who answer visitors (dx 5.3). */
import { h, pageData, setText } from '../shared/dom'
import { backoff, call, Failure, readEvents } from '../shared/http'
import { createChat } from './chat'
import { keep, recall } from './kept'
import { createQueue } from './queue'
import { createReply } from './reply'
import { type Chat, keyOf, type Me, mine, type Transcript } from './wire'
import { WORDS } from './words'

const BLINK_MS = 1_000

const BEEP = { hertz: 660, seconds: 0.18, volume: 0.08 }

const me = pageData<Me>('me')
const alerts = createAlerts()
const queue = createQueue(me, choose)
const view = createChat(me, {
  take: (force) => act('takeover', { operator_name: me.name, ...(force ? { force: true } : {}) }),
  release: () => act('release', {}),
  close: () => act('close', {}),
  back: () => choose(null),
  choose,
  note: (content) => post('notes', { content }),
})
const reply = createReply({
  people: me.people,
  async send(text) {
    await post('messages', { content: text })
    hurry()
  },
  typing: () => void post('typing', {}).catch(() => undefined),
  draft: async () => ((await (await post('draft', {})).json()) as { draft: string }).draft,
  handover: (to) => act('handover', { to }),
})
const status = h('p', { class: 'banner', role: 'status', hidden: true })
const root = document.getElementById('inbox')!
let chosen: Chat | null = null
let following = new AbortController()

root.append(
  h('header', { class: 'bar' }, h('h1', {}, WORDS.title), alerts.options, h('a', { href: '/home' }, 'Home')),
  status,
  alerts.live,
  h('main', { class: 'columns' }, queue.element, h('div', { class: 'desk' }, view.element, reply.form), view.aside),
)
void follow()
document.documentElement.dataset.ready = 'true'
view.format()

async function post(verb: string, body: object): Promise<Response> {
  if (!chosen) throw new Failure(0, 'none', WORDS.choose)
  return call(`${`/api/v1/iframes/${chosen.config_id}/conversations/${chosen.session_id}`}/${verb}`, {
    method: 'POST',
    body,
  })
}

function act(verb: string, body: object): void {
  reply.refuse('')
  post(verb, body).then(hurry, (error: unknown) => {
    if (!(error instanceof Failure)) throw error
    say(error.status === 404 ? WORDS.gone : error.message)
    hurry()
  })
}

function choose(chat: Chat | null): void {
  chosen = chat
  root.dataset.open = String(chat !== null)
  queue.mark(chat)
  reply.allow(null)
  say('')
  if (!chat) {
    view.clear()
    queue.focus()
  }
  hurry()
}

function say(text: string): void {
  status.hidden = text === ''
  setText(status, text)
}

/** Begins to follow anew: something else is open, or something was done. */
function hurry(): void {
  following.abort()
}

/** Hears of the queue and of the open conversation over one long answer, and comes back when it breaks off. */
async function follow(): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    following = new AbortController()
    const { signal } = following
    const query = chosen ? `?chat=${keyOf(chosen)}` : ''
    try {
      const response = await call(`/operator/events${query}`, { signal })
      await readEvents(response, ({ name, data }) => {
        if (signal.aborted) return
        tries = 0
        if (status.textContent === WORDS.lost) say('')
        if (name === 'queue') showQueue(data as { conversations: Chat[] })
        else if (name === 'chat') showChat(data as Transcript)
        else if (name === 'typing') view.typing()
        else if (name === 'error') throw new Failure(404, 'gone', WORDS.gone)
      })
    } catch (error) {
      if (error instanceof Failure && error.status === 401) {
        say(WORDS.signedOut)
        status.append(' ', h('a', { href: '/sign-in?next=/operator' }, WORDS.signIn))
        return
      }
      if (error instanceof Failure && error.code === 'gone' && chosen) {
        choose(null)
        say(WORDS.gone)
      }
    }
    if (signal.aborted) {
      tries = -1
      continue
    }
    say(WORDS.lost)
    await new Promise((resolve) => setTimeout(resolve, backoff(tries)))
  }
}

function showQueue({ conversations }: { conversations: Chat[] }): void {
  queue.show(conversations)
  const waiting = conversations.filter((chat) => chat.status === 'open' && chat.takeover_status === 'requested')
  alerts.waits(waiting.map(({ session_id }) => session_id))
}

function showChat(chat: Transcript): void {
  if (chosen?.session_id !== chat.session_id) return
  const wasMine = mine(chosen, me)
  chosen = chat
  view.show(chat, queue.ofVisitor(chat))
  const isMine = chat.status === 'open' && mine(chat, me)
  reply.allow(isMine ? chat.session_id : null)
  if (wasMine && !isMine && chat.takeover_status === 'human') say(WORDS.taken(chat.operator?.name ?? WORDS.operator))
}

/** Tells that somebody waits: in the title, aloud once for each visitor, and by sound and blinking if wanted. */
function createAlerts() {
  const live = h('p', { class: 'hidden', 'aria-live': 'assertive' })
  const notice = new Set<string>()
  let waiting = 0
  let isDark = false
  const sound = option('sound', WORDS.sound)
  const blink = option('blink', WORDS.blink)

  function option(name: string, label: string) {
    const box = h('input', { type: 'checkbox', checked: recall(name, false) })
    box.addEventListener('change', () => {
      keep(name, box.checked || null)
      if (box.checked && name === 'sound') beep()
    })
    return { box, label: h('label', {}, box, ` ${label}`) }
  }

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

  function drawTitle(): void {
    const text = waiting ? `(${waiting}) Waiting` : WORDS.title
    document.title = isDark && blink.box.checked && waiting ? WORDS.title : text
  }
  setInterval(() => {
    isDark = !isDark
    drawTitle()
  }, BLINK_MS)

  return {
    live,
    options: h('fieldset', { class: 'options' }, h('legend', { class: 'hidden' }, 'Alerts'), sound.label, blink.label),
    waits(ids: string[]): void {
      waiting = ids.length
      const fresh = ids.filter((id) => !notice.has(id))
      for (const id of fresh) notice.add(id)
      for (const id of notice) if (!ids.includes(id)) notice.delete(id)
      if (fresh.length > 0) {
        live.replaceChildren(WORDS.newVisitor)
        if (sound.box.checked) beep()
      }
      drawTitle()
    },
  }
}
