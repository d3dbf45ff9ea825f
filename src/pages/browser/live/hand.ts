const BUTTONS = ['left', 'middle', 'right']

/** Sends what mouse, wheel and keyboard do on the picture, while this viewer has the wheel. */
export function listenToRemoteInput(
  canvas: HTMLCanvasElement,
  holds: () => boolean,
  send: (message: object) => void,
): void {
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
    // A paste comes as an event of its own.
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
