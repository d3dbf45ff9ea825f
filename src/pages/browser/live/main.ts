import { type Known, stateOf, WHY } from './state'

type Message = { ref: string; role: string; name: string; value: string; level: number | null; checked: boolean | null }

type RemoteInput = { press(ref: string): void; fill(ref: string, text: string): void; holds(): boolean }

const FIELDS = new Set(['textbox', 'searchbox', 'spinbutton'])

const BUTTONS = ['left', 'middle', 'right']

/** The page of a live view: a moving picture, and input for viewers who may control it (docs/api.md 16.3). */
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
let lastPlace = ''
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

/** Announces the page's address to screen readers, at most once in three seconds. */
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
  if (state.url && now !== lastPlace) {
    sayPlace()
    post('navigated', { url: state.url, title: state.title, favicon_url: state.favicon_url ?? null })
  }
  lastPlace = now
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

/** Handles the first picture of a stream, or of a page that replaced a lost one. */
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
    // A full session rarely gets a free place within half a second, so this waits longer.
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

/** Draws a frame of the stream: four bytes of length, a header in JSON, and a JPEG. */
async function draw(canvas: HTMLCanvasElement, data: ArrayBuffer): Promise<void> {
  const length = new DataView(data).getUint32(0)
  const { w, h } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as { w: number; h: number }
  const picture = await createImageBitmap(new Blob([new Uint8Array(data, 4 + length)], { type: 'image/jpeg' }))
  // The canvas has the size of the page, so that their coordinates are equal.
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h]
  canvas.getContext('2d')?.drawImage(picture, 0, 0, w, h)
  picture.close()
}

/** Sends mouse, wheel and keyboard input on the picture, while this viewer has control. */
function listenToRemoteInput(canvas: HTMLCanvasElement, holds: () => boolean, send: (message: object) => void): void {
  const placeOf = ({ clientX, clientY }: MouseEvent) => {
    const box = canvas.getBoundingClientRect()
    const x = ((clientX - box.left) * canvas.width) / box.width
    const y = ((clientY - box.top) * canvas.height) / box.height
    return { x: Math.round(x), y: Math.round(y) }
  }
  let moved = 0
  const mouse = (kind: 'move' | 'down' | 'up') => (event: MouseEvent) => {
    if (!holds()) return
    if (kind === 'move' && event.timeStamp - moved < 30) return
    moved = event.timeStamp
    if (kind === 'down') canvas.focus()
    if (kind !== 'move') event.preventDefault()
    send({ type: 'mouse', kind, ...placeOf(event), button: BUTTONS[event.button] ?? 'left' })
  }
  canvas.addEventListener('mousemove', mouse('move'))
  canvas.addEventListener('mousedown', mouse('down'))
  canvas.addEventListener('mouseup', mouse('up'))
  canvas.addEventListener('contextmenu', (event) => event.preventDefault())
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!holds()) return
      event.preventDefault()
      send({ type: 'wheel', ...placeOf(event), dx: Math.round(event.deltaX), dy: Math.round(event.deltaY) })
    },
    { passive: false },
  )
  const key = (kind: 'down' | 'up') => (event: KeyboardEvent) => {
    if (event.ctrlKey && event.altKey && event.key === 'Escape') return canvas.blur()
    // A paste arrives as a separate event.
    if (!holds() || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'v')) return
    event.preventDefault()
    if ([...event.key].length === 1 && !event.ctrlKey && !event.metaKey) {
      if (kind === 'down') send({ type: 'text', text: event.key })
      return
    }
    send({ type: 'key', kind, key: event.key })
  }
  canvas.addEventListener('keydown', key('down'))
  canvas.addEventListener('keyup', key('up'))
  document.addEventListener('paste', (event) => {
    const text = event.clipboardData?.getData('text/plain').slice(0, 10_000)
    if (document.activeElement === canvas && holds() && text) send({ type: 'text', text })
  })
}

/**
 * The page as text: headings, texts, a field for each field, and a button for everything else that can be pressed.
 * Texts are never treated as markup.
 */
function createWords(place: HTMLElement, remoteInput: RemoteInput) {
  let shown = ''
  return (nodes: readonly Message[]): void => {
    const held = remoteInput.holds()
    const now = JSON.stringify([held, nodes])
    // A field in which the viewer is typing stays unchanged.
    if (now === shown || (place.contains(document.activeElement) && document.activeElement?.matches('input'))) return
    shown = now
    const at = [...place.querySelectorAll<HTMLElement>('[data-ref]')].find((node) => node === document.activeElement)
    place.replaceChildren(...nodes.map((node) => nodeOf(node, held)))
    if (at) place.querySelector<HTMLElement>(`[data-ref="${CSS.escape(at.dataset.ref!)}"]`)?.focus()
  }

  function nodeOf(message: Message, held: boolean): HTMLElement {
    const { ref, role, name, value, level, checked } = message
    if (role === 'heading') return textIn(document.createElement(`h${Math.min(6, Math.max(1, level ?? 2))}`), name)
    if (role === 'StaticText' || role === 'image') return textIn(document.createElement('p'), name)
    const line = document.createElement('p')
    if (FIELDS.has(role)) {
      line.append(fieldOf(message, held))
      return line
    }
    const button = document.createElement('button')
    button.type = 'button'
    button.dataset.ref = ref
    button.disabled = !held
    button.onclick = () => remoteInput.press(ref)
    line.append(textIn(button, [role, name, value, checked && 'checked'].filter(Boolean).join(' ')))
    return line
  }

  function fieldOf({ ref, name, value }: Message, held: boolean): HTMLElement {
    const label = textIn(document.createElement('label'), `${name} `)
    const field = document.createElement('input')
    Object.assign(field, { type: 'text', value, disabled: !held, autocomplete: 'off' })
    field.dataset.ref = ref
    field.onchange = () => remoteInput.fill(ref, field.value)
    label.append(field)
    return label
  }
}

function textIn<T extends HTMLElement>(node: T, text: string): T {
  node.textContent = text
  return node
}
