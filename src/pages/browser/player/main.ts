type Action = {
  at: string
  by: string
  tool: string
  input: string
  ok: boolean
  result: string
  url: string
  frame_url: string | null
}

/** Plays the recording of a session: one picture after the other, with each action and its result. */
const actions = JSON.parse(document.querySelector('#recording')!.textContent) as Action[]
const picture = document.createElement('img')
const words = document.createElement('p')
const place = document.createElement('input')
const play = document.createElement('button')
Object.assign(place, { type: 'range', min: '0', max: String(Math.max(0, actions.length - 1)), value: '0' })
place.setAttribute('aria-label', 'Step')
words.setAttribute('role', 'status')
const bar = document.createElement('header')
const caption = Object.assign(document.createElement('h1'), { className: 'caption', textContent: 'Recording' })
bar.className = 'bar'
let timer = 0

function show(at: number): void {
  const action = actions[at]
  place.value = String(at)
  if (!action) {
    words.textContent = 'This session has no steps.'
    return
  }
  picture.hidden = action.frame_url === null
  if (action.frame_url) picture.src = action.frame_url
  picture.alt = `The page after step ${at + 1}: ${action.url}`
  const facts = [
    `Step ${at + 1} of ${actions.length}`,
    action.at,
    action.by,
    action.tool,
    action.input,
    action.ok ? 'done' : 'failed',
    action.url,
  ]
  words.textContent = facts.filter(Boolean).join(' · ')
}

function stop(): void {
  clearInterval(timer)
  timer = 0
  play.textContent = 'Play'
}

const step = (by: number) => show(Math.min(actions.length - 1, Math.max(0, Number(place.value) + by)))
const button = (text: string, click: () => void) =>
  Object.assign(document.createElement('button'), { type: 'button', textContent: text, onclick: click })
Object.assign(play, { type: 'button', textContent: 'Play' })
play.onclick = () => {
  if (timer) return stop()
  play.textContent = 'Pause'
  timer = window.setInterval(() => (Number(place.value) >= actions.length - 1 ? stop() : step(1)), 1_000)
}
place.oninput = () => show(Number(place.value))
bar.append(
  caption,
  button('Before', () => step(-1)),
  play,
  button('Next', () => step(1)),
  place,
)
const view = document.createElement('main')
view.className = 'view'
view.append(picture, words)
document.body.append(bar, view)
show(0)
