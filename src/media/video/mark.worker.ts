import { Resvg } from '@resvg/resvg-js'
import { LOADED, type WorkerReply } from '../../kernel/worker-pool'
import { toSvg } from '../scenes'
import { provenanceMark } from './storyboard'

/** Pixels of the clip that is to be marked. */
export type MarkInput = { width: number; height: number }

declare const self: Worker

self.onmessage = ({ data: { width, height } }: MessageEvent<MarkInput>) => {
  const svg = toSvg({ width, height, background: '#00000000', shapes: [provenanceMark(width, height)], title: '' })
  const answer = new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng()
  const reply: WorkerReply<Uint8Array> = { ok: true, answer }
  self.postMessage(reply)
}

self.postMessage(LOADED)
