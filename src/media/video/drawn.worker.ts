import { createH264MP4Encoder } from 'h264-mp4-encoder'
import { LOADED, type WorkerProgress, type WorkerReply } from '../../kernel/worker-pool'
import { framesOf } from './drawn'
import { finished } from './mp4'
import { toPng } from './png'
import { toYuv } from './raster'
import type { FilmOrder } from './storyboard'

export type Video = { mp4: Uint8Array; poster: Uint8Array }

declare const self: Worker

/** How much is lost, 10 to 51: flat colours take little room. */
const QUANTIZATION = 26
/** The fastest of the encoder: what it does not try would save a tenth of the bytes. */
const SPEED = 10
const KEY_FRAME_S = 2
const COLLECTED_S = 2
const WORDS = {
  tool: 'svc local illustration',
  comment: 'AI-generated: a local illustration, animated from a description by rules. Not filmed.',
  xmp: '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"/></rdf:RDF></x:xmpmeta>',
}

self.onmessage = async ({ data }: MessageEvent<FilmOrder>) => {
  let reply: WorkerReply<Video>
  try {
    reply = { ok: true, answer: await filmed(data) }
  } catch (error) {
    reply = { ok: false, problem: String(error) }
  }
  self.postMessage(reply)
}

async function filmed(input: FilmOrder): Promise<Video> {
  const { width, height, seconds } = input
  // Frames a second. Nearly all of the time of a clip is spent on encoding them.
  const fps = seconds <= 30 ? 15 : 12
  const encoder = await createH264MP4Encoder()
  Object.assign(encoder, {
    width,
    height,
    frameRate: fps,
    quantizationParameter: QUANTIZATION,
    speed: SPEED,
    groupOfPictures: fps * KEY_FRAME_S,
  })
  encoder.initialize()
  const planes = new Uint8Array((width * height * 3) / 2)
  const total = Math.round(seconds * fps)
  let poster: Buffer | null = null
  let made = 0
  for (const frame of framesOf(input, fps)) {
    toYuv(frame, planes)
    encoder.addFrameYuv(planes)
    made += 1
    // Late enough for everything to have come in.
    if (made === Math.ceil(total * 0.85)) poster = toPng(frame)
    if (made % fps === 0) self.postMessage({ percent: Math.floor((99 * made) / total) } satisfies WorkerProgress)
    if (made % (fps * COLLECTED_S) === 0) await collected()
  }
  encoder.finalize()
  const mp4 = finished(encoder.FS.readFile(encoder.outputFilename), WORDS)
  encoder.delete()
  return { mp4: Uint8Array.from(mp4), poster: Uint8Array.from(poster!) }
}

/** Frees the pictures of what was shown, which the renderer keeps until the event loop has had its turn. */
async function collected(): Promise<void> {
  Bun.gc(true)
  await new Promise<void>((resolve) => setImmediate(resolve))
}

self.postMessage(LOADED)
