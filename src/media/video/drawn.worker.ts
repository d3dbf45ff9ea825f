import { createH264MP4Encoder } from 'h264-mp4-encoder'
import { answerTasks, type WorkerProgress } from '../../kernel/worker-pool'
import { DRAWN_XMP } from '../drawing-label'
import { framesOf, stillOf, toYuv } from './frames'
import { finished } from './mp4'
import type { ClipInput } from './storyboard'

export type Video = { mp4: Uint8Array; poster: Uint8Array }

declare const self: Worker

/** H.264 quantization, 10 to 51. Flat colours compress well even at a high quality. */
const QUANTIZATION = 26
/** The fastest setting. Slower ones would save only a tenth of the bytes. */
const SPEED = 10
const KEY_FRAME_S = 2
const COLLECTED_S = 2
const WORDS = {
  tool: 'svc local illustration',
  comment: 'AI-generated: a local illustration, animated from a description by rules. Not filmed.',
  xmp: DRAWN_XMP,
}

async function filmed(input: ClipInput): Promise<Video> {
  const { width, height, seconds } = input
  // Frames per second. Encoding takes nearly all of the time of a clip.
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
  let made = 0
  for (const frame of framesOf(input, fps)) {
    toYuv(frame, planes)
    encoder.addFrameYuv(planes)
    made += 1
    if (made % fps === 0) self.postMessage({ percent: Math.floor((99 * made) / total) } satisfies WorkerProgress)
    // Frees the bitmaps of past frames, which the renderer keeps until the event loop has had its turn.
    if (made % (fps * COLLECTED_S) === 0) {
      Bun.gc(true)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  encoder.finalize()
  const mp4 = finished(encoder.FS.readFile(encoder.outputFilename), WORDS)
  encoder.delete()
  return { mp4: Uint8Array.from(mp4), poster: Uint8Array.from(stillOf(input)) }
}

answerTasks(filmed)
