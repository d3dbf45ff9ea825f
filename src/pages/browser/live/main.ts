import { draw } from './draw'
import { listenToHand } from './hand'
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
let [mayControl, viewer, holder, tries] = [false, '', null as string | null, 0]
let over = false
let interactive = !readOnly
let told = ''
let wanted: string | null = null

const status = at('span', { role: 'status', textContent: 'Connecting' })
const address = at('span', { className: 'address', textContent: '' })
const canvas = at('canvas', { width: 1280, height: 800, tabIndex: 0 })
const text = at('div', { className: 'text', hidden: true })
const tabs = at('div', { className: 'tabs', role: 'tablist', hidden: true })
const send = (message: object) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
const wheel = button('Take the wheel', () => send({ type: holds() ? 'release' : 'take' }))
const words = createWords(text, (ref) => send({ type: 'press', ref }))
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
bar.hidden = url.searchParams.get('controls') === '0'
document.body.append(at('header', {}, bar, tabs), at('main', { className: 'view' }, canvas, text))
canvas.setAttribute('role', 'img')
if (['dark', 'light'].includes(url.searchParams.get('theme') ?? ''))
  document.documentElement.style.colorScheme = url.searchParams.get('theme')!

const holds = () => holder !== null && holder === viewer
const post = (type: string, more: object = {}) =>
  parent.postMessage({ source: 'svc-browser', type, session_id: sessionId, live_view_version: version, ...more }, '*')
listenToHand(canvas, () => interactive && holds(), send)
setInterval(() => {
  if (!text.hidden) send({ type: 'tree' })
}, 2_000)

function show(): void {
  wheel.hidden = !(mayControl && interactive)
  wheel.textContent = holds() ? 'Give it back' : 'Take the wheel'
  for (const move of moves) move.disabled = !holds()
  const words =
    wanted && !holder
      ? `A person is wanted: ${wanted}`
      : holds()
        ? 'You have control. Ctrl+Alt+Esc leaves the picture'
        : holder
          ? 'Someone else has control'
          : 'Live'
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
}

function take(state: State): void {
  ;({ holder, may_control: mayControl } = state)
  if (state.wanted && state.wanted !== wanted) post('wants_person', { text: state.wanted })
  wanted = state.wanted
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
  if (now !== told) post('navigated', { url: state.url, title: state.title, favicon_url: state.favicon_url ?? null })
  told = now
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

function connect(): void {
  const stream = new URL(`${location.pathname}/stream`, location.href)
  stream.protocol = stream.protocol.replace('http', 'ws')
  stream.search = ''
  const ws = new WebSocket(stream)
  let first = true
  ws.binaryType = 'arraybuffer'
  socket = ws
  ws.onopen = () => ws.send(JSON.stringify({ type: 'hello', token }))
  ws.onmessage = async ({ data }) => {
    if (typeof data !== 'string') {
      await draw(canvas, data as ArrayBuffer)
      send({ type: 'ack' })
      if (first) {
        first = false
        tries = 0
        document.body.className = 'live'
        post('connected')
      }
      return
    }
    const said = JSON.parse(data)
    if (said.type === 'hello') [viewer, mayControl, version] = [said.viewer, said.may_control, said.version]
    if (said.type === 'state') take(said)
    if (said.type === 'text') words(said.nodes)
    if (said.type === 'busy') status.textContent = said.message
    if (said.type === 'ended') {
      over = true
      status.textContent = 'The session has ended'
      post('ended', { reason: said.reason })
    }
  }
  ws.onclose = ({ code }) => {
    const final = over || code === 4401 || code === 4410 || code === 1008
    document.body.className = 'away'
    post('disconnected', { reason: over ? 'ended' : code === 4401 ? 'expired' : 'lost', will_retry: !final })
    if (code === 4401) status.textContent = 'This link has expired. Ask the page for a new one.'
    if (final) return
    tries += 1
    status.textContent = `Reconnecting, try ${tries}`
    setTimeout(connect, Math.min(8_000, 500 * 2 ** (tries - 1)) * (0.75 + (performance.now() % 500) / 1_000))
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
