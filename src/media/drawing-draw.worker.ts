import { Resvg } from '@resvg/resvg-js'
import { LOADED, type WorkerReply } from '../kernel/worker-pool'
import { labelled } from './drawing-png-label'
import { compose, type SceneInput, toSvg } from './scenes'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<SceneInput>) => {
  self.postMessage(answered(data))
}

function answered(input: SceneInput): WorkerReply<Uint8Array> {
  try {
    const drawn = new Resvg(toSvg(compose(input)), { font: { loadSystemFonts: false } }).render()
    return { ok: true, answer: labelled(drawn.asPng()) }
  } catch (error) {
    return { ok: false, problem: String(error) }
  }
}

self.postMessage(LOADED)
