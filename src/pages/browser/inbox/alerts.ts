import { h } from '../shared/dom'
import { keep, recall } from './kept'
import { WORDS } from './words'

const BLINK_MS = 1_000
const BEEP = { hertz: 660, seconds: 0.18, volume: 0.08 }

/** Tells that somebody waits: in the title, aloud once for each visitor, and by sound and blinking if wanted. */
export function createAlerts() {
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
