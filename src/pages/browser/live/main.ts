import { draw } from './draw'
import { listenToRemoteInput } from './hand'
import { type Known, stateOf, WHY } from './state'
import { createWords } from './words'

/** The page of a live view: a picture that moves, and a hand on it for whoever may (contract 16.3). */
const url = new URL(location.href)
const token = url.searchParams.get('token') ?? ''
const sessionId = url.pathname.split('/')[3] ?? ''
const readOnly = url.searchParams.get('readOnly') === '1'
url.searchParams.delete('token')
history.replaceState(null, '', url)

const at = <T extends keyof HTMLElementTagNameMap>(name: T, props: object = {}, ...inside: Node[]) => {
  const node = Object.assign(document.createElement(name), props)
  node.append(...inside)
  return node
}
const button = (text: string, click: () => void) => at('button', { type: 'button', textContent: text, onclick: click })

let socket: WebSocket | null = null
let version = 0
let [mayControl, viewer, holder] = [false, '', null as string | null]
let interactive = !readOnly
let notice = ''
let first = true
let drawn = false
const known: Known = {
  ...{ link: 'connecting', why: null, tries: 0, holds: false, held: false, wanted: null, step: null },
  ...{ idle: false, lost: false },
}

const status = at('span', { role: 'status', textContent: 'Connecting' })
const address = at('span', { className: 'address', textContent: '' })
const canvas = at('canvas', { width: 1280, height: 800, tabIndex: 0 })
const text = at('div', { className: 'text', hidden: true })
const tabs = at('div', { className: 'tabs', role: 'tablist', hidden: true })
const send = (message: object) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
const wheel = button('Take control', () => send({ type: holds() ? 'release' : 'take' }))
const words = createWords(text, {
  press: (ref) => send({ type: 'press', ref }),
  fill: (ref, text) => send({ type: 'fill', ref, text: text }),
  holds: () => interactive && holds(),
})
const toggle = button('Text view', () => {
  text.hidden = !text.hidden
  canvas.hidden = !text.hidden
  toggle.textContent = text.hidden ? 'Text view' : 'Picture'
  if (!text.hidden) send({ type: 'tree' })
})
const moves = ['back', 'forward', 'reload'].map((type) =>
  button(type[0]!.toUpperCase() + type.slice(1), () => send({ type })),
)
const caption = at('h1', {
  className: 'caption',
  textContent: url.searchParams.get('title')?.slice(0, 100) || 'Live browser',
})
const bar = at(
  'div',
  { className: 'bar' },
  caption,
  at('span', { className: 'dot' }),
  ...moves,
  address,
  wheel,
  toggle,
  status,
)
const place = at('p', { className: 'said' })
place.setAttribute('aria-live', 'polite')
bar.hidden = url.searchParams.get('controls') === '0'
document.body.append(at('header', {}, bar, tabs), at('main', { className: 'view' }, canvas, text), place)
canvas.setAttribute('role', 'img')
if (['dark', 'light'].includes(url.searchParams.get('theme') ?? ''))
  document.documentElement.style.colorScheme = url.searchParams.get('theme')!

const holds = () => holder !== null && holder === viewer
const post = (type: string, more: object = {}) =>
  parent.postMessage({ source: 'svc-browser', type, session_id: sessionId, live_view_version: version, ...more }, '*')
listenToRemoteInput(canvas, () => interactive && holds(), send)
setInterval(() => {
  if (!text.hidden) send({ type: 'tree' })
}, 2_000)

/** Where the page went, for whoever listens; at most once in three seconds. */
let saysSoon = false
function sayPlace(): void {
  if (saysSoon) return
  saysSoon = true
  setTimeout(() => {
    saysSoon = false
    place.textContent = [address.title, address.textContent].filter(Boolean).join(', ')
  }, 3_000)
}

function show(): void {
  wheel.hidden = !(mayControl && interactive)
  wheel.textContent = holds() ? 'Give back control' : 'Take control'
  for (const move of moves) move.disabled = !holds()
  const { name, words } = stateOf({ ...known, holds: holds(), held: holder !== null })
  document.body.className = name
  if (status.textContent !== words) status.textContent = words
}

type State = {
  url?: string
  title?: string
  favicon_url?: string | null
  version: number
  tabs: { id: string; title: string; url: string }[]
  id?: string
  holder: string | null
  wanted: string | null
  may_control: boolean
  step: string | null
  idle: boolean
  away: boolean
}

function take(state: State): void {
  const had = holds()
  ;({ holder, may_control: mayControl } = state)
  if (!had && holds() && text.hidden) canvas.focus()
  if (state.wanted && state.wanted !== known.wanted) post('wants_person', { text: state.wanted })
  if (state.away && !known.lost) {
    post('disconnected', { reason: 'target_lost', will_retry: true })
    ;[first, drawn] = [true, false]
  }
  Object.assign(known, { wanted: state.wanted, step: state.step, idle: state.idle, lost: state.away })
  connected()
  if (state.version !== version) {
    version = state.version
    post('version')
  }
  address.textContent = state.url ?? ''
  address.title = state.title ?? ''
  canvas.setAttribute(
    'aria-label',
    `Live browser: ${state.title ?? ''}, ${URL.canParse(state.url ?? '') ? new URL(state.url!).host : ''}`,
  )
  const now = `${state.url}\n${state.title}`
  if (state.url && now !== notice) {
    sayPlace()
    post('navigated', { url: state.url, title: state.title, favicon_url: state.favicon_url ?? null })
  }
  notice = now
  tabs.hidden = state.tabs.length < 2
  tabs.replaceChildren(
    ...(state.tabs.length > 1 ? state.tabs : []).map(({ id, title, url }) => {
      const tab = button(title || url, () => send({ type: 'tab', id }))
      tab.setAttribute('role', 'tab')
      tab.setAttribute('aria-selected', String(id === state.id))
      return tab
    }),
  )
  show()
}

/** The first picture of a stream, or of a page that took the place of a lost one. */
function connected(): void {
  if (!first || !drawn || known.lost) return
  first = false
  Object.assign(known, { link: 'live', why: null, tries: 0 })
  show()
  post('connected')
}

function connect(): void {
  const stream = new URL(`${location.pathname}/stream`, location.href)
  stream.protocol = stream.protocol.replace('http', 'ws')
  stream.search = ''
  const ws = new WebSocket(stream)
  ;[first, drawn] = [true, false]
  ws.binaryType = 'arraybuffer'
  socket = ws
  ws.onopen = () => ws.send(JSON.stringify({ type: 'hello', token }))
  ws.onmessage = async ({ data }) => {
    if (typeof data !== 'string') {
      await draw(canvas, data as ArrayBuffer)
      send({ type: 'ack' })
      drawn = true
      return connected()
    }
    const message = JSON.parse(data)
    if (message.type === 'hello') [viewer, mayControl, version] = [message.viewer, message.may_control, message.version]
    if (message.type === 'state') take(message)
    if (message.type === 'text') words(message.nodes)
    if (message.type === 'busy') status.textContent = message.message
    if (message.type === 'ended') {
      Object.assign(known, { link: 'over', why: 'ended' })
      show()
      post('ended', { reason: message.reason })
    }
  }
  ws.onclose = ({ code }) => {
    const why = known.link === 'over' ? known.why : (WHY[code] ?? null)
    const final = why !== null && why !== 'blocked'
    Object.assign(known, { link: final ? 'over' : 'away', why, tries: known.tries + 1 })
    holder = null
    show()
    post('disconnected', { reason: why ?? 'lost', will_retry: !final })
    if (final) return
    // Nobody leaves a full session in half a second.
    const pause = why === 'blocked' ? 8_000 : Math.min(8_000, 500 * 2 ** (known.tries - 1))
    setTimeout(connect, pause * (0.75 + (performance.now() % 500) / 1_000))
  }
}

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.target !== 'svc-browser') return
  if (data.type === 'refresh') send({ type: 'refresh' })
  if (data.type === 'focus') canvas.focus()
  if (data.type === 'set_interactive') interactive = data.value === true && !readOnly
  show()
})
post('ready')
connect()
