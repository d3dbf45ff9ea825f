import { systemClock } from '../kernel/clock'
import { AppError, defineError } from '../kernel/errors'

/** Largest JSON body: room for a 15 MiB image as base64 (docs/api.md 1.1). */
export const MAX_JSON_BYTES = 24 * 1024 * 1024
/** Largest body of a request without a credential. Sign-in forms and payment events are far smaller. */
export const MAX_PUBLIC_BYTES = 16 * 1024

/** Largest form of a page: a password or a code. */
export const MAX_FORM_BYTES = 4 * 1024

/** Limit on the bodies in memory at one time, over all requests. Reading a body takes several times its size. */
const BUDGET_BYTES = 2 * MAX_JSON_BYTES + 8 * 1024 * 1024
/** The share for requests without a credential, so that they cannot block the others. */
const PUBLIC_BUDGET_BYTES = 8 * 1024 * 1024
/** Smaller bodies are counted, but never rejected, so that a sign-in gets through a flood of bodies. */
const SMALL_BYTES = 4 * 1024
/** Minimum rate. A slower body is aborted when its time is over. */
const MIN_BYTES_A_SECOND = 1024

const limits = { seconds: 15 }
const held = { all: 0, public: 0 }

/** Sets how long any body may take. A slower body must have arrived at 1 KB/s. */
export function limitIntake(seconds: number): void {
  limits.seconds = seconds
}

export const payloadTooLarge = (maxBytes = MAX_JSON_BYTES) =>
  new AppError(
    'payload_too_large',
    `The body is larger than ${maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`}.`,
  )

const tooSlow = defineError(
  'request_timeout',
  () => `The body came too slowly: it must arrive within ${limits.seconds} s, or at 1 KB/s or more. Send it again.`,
)

/** A whole body, which counts against the budget until `release` is called. */
export type ReceivedBody = { readonly bytes: Uint8Array; release(): void }

const NO_BYTES = new Uint8Array()
const NOTHING: ReceivedBody = { bytes: NO_BYTES, release: () => undefined }

/**
 * Reads a body within its limits of size and time and the budget. Returns a promise if the body has not arrived yet.
 * @throws AppError 413 `payload_too_large`, 503 `service_unavailable`, 504 `request_timeout`
 */
export function receiveBody(
  request: Request,
  maxBytes: number,
  isPublic: boolean,
): ReceivedBody | Promise<ReceivedBody> {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > maxBytes) throw payloadTooLarge(maxBytes)
  const body = new Body(isPublic)
  // A body this small falls below the minimum rate exactly when its time is over, so its pieces need no counting.
  if (declared <= limits.seconds * MIN_BYTES_A_SECOND) {
    body.claim(declared)
    return body.receive(request.arrayBuffer())
  }
  return request.body ? inPieces(request, maxBytes, body, declared) : NOTHING
}

/** The bodies that began to arrive in this turn of the event loop. */
let fresh: Body[] = []

/** Nearly all bodies arrive in the turn in which they begin. Only the others need a timer. */
function startTimers(): void {
  const begun = fresh
  fresh = []
  for (const body of begun) body.startTimer()
}

/** A body and its part of the budget. A class, because most requests have one. */
class Body implements ReceivedBody {
  bytes: Uint8Array = NO_BYTES
  private claimed = 0
  /** Null once the body has arrived or failed. */
  private fail: ((error: unknown) => void) | null = null
  private cancel: (() => void) | null = null

  constructor(private readonly isPublic: boolean) {}

  /** Claims budget for this many bytes. Throws 503 `service_unavailable`. */
  claim(size: number): void {
    const more = size - this.claimed
    const isOver = held.all + more > BUDGET_BYTES || (this.isPublic && held.public + more > PUBLIC_BUDGET_BYTES)
    if (isOver && size > SMALL_BYTES)
      throw new AppError(
        'service_unavailable',
        'Too many large bodies are being read at once. Try again in a second.',
        {
          retryAfterS: 1,
        },
      )
    this.add(more)
  }

  private add(bytes: number): void {
    held.all += bytes
    if (this.isPublic) held.public += bytes
    this.claimed += bytes
  }

  release(): void {
    noteGone(this.claimed)
    this.add(-this.claimed)
  }

  /** Waits for the bytes, at most `limits.seconds`. Throws 504 `request_timeout`. */
  receive(reading: Promise<ArrayBuffer>): Promise<Body> {
    if (!fresh.length) setImmediate(startTimers)
    fresh.push(this)
    return new Promise((resolve, reject) => {
      this.fail = (error) => {
        this.fail = null
        this.cancel?.()
        this.release()
        reject(error)
      }
      reading.then((bytes) => {
        this.fail = null
        this.cancel?.()
        this.bytes = new Uint8Array(bytes)
        resolve(this)
      }, this.fail)
    })
  }

  startTimer(): void {
    if (this.fail) this.cancel = systemClock.after(limits.seconds * 1_000, () => this.fail?.(tooSlow()))
  }
}

/** Reads into one buffer if the size is declared. Pieces and a joined copy would take twice the memory. */
async function inPieces(request: Request, maxBytes: number, body: Body, declared: number): Promise<Body> {
  const whole = declared > 0 ? Buffer.allocUnsafeSlow(declared) : null
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of paced(request, maxBytes)) {
      body.claim(size + piece.length)
      size += piece.length
      if (!whole) chunks.push(piece)
      else {
        whole.set(piece, size - piece.length)
        freeBuffer(piece)
      }
    }
  } catch (error) {
    if (whole) freeBuffer(whole)
    body.release()
    throw error
  }
  body.bytes = whole ? whole.subarray(0, size) : Buffer.concat(chunks)
  return body
}

/** The pieces of a body as they arrive. Throws 413 `payload_too_large`, 504 `request_timeout`. */
export async function* paced({ body }: Request, maxBytes: number): AsyncGenerator<Uint8Array> {
  if (!body) return
  const reader = body.getReader()
  let size = 0
  const watch = watchRate(
    () => size,
    () => void reader.cancel(),
  )
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (watch.isLate()) throw tooSlow()
      if (done) return
      size += value.length
      if (size > maxBytes) throw payloadTooLarge(maxBytes)
      yield value
    }
  } finally {
    void reader.cancel().catch(() => undefined)
    watch.end()
  }
}

/** Calls `giveUp` when a body's time is over and its data arrived too slowly. */
function watchRate(received: () => number, giveUp: () => void) {
  const startedAt = systemClock.monotonic()
  let late = false
  let cancel = systemClock.after(limits.seconds * 1_000, check)
  function check(): void {
    const mayTakeMs = limits.seconds * 1_000 + (received() / MIN_BYTES_A_SECOND) * 1_000
    const leftMs = mayTakeMs - (systemClock.monotonic() - startedAt)
    late = leftMs <= 0
    if (late) giveUp()
    else cancel = systemClock.after(leftMs, check)
  }
  return { isLate: () => late, end: () => cancel() }
}

/** Bytes of released bodies that may not be collected yet. */
let gone = 0

/** Requests a collection. Large bodies weigh nothing in the script's heap, so nothing else triggers one soon. */
function noteGone(bytes: number): void {
  gone += bytes
  if (gone < MAX_JSON_BYTES) return
  gone = 0
  Bun.gc(false)
}

/**
 * Frees the memory of bytes that no one else views at once. The collector would come later than the next large body
 * (docs/promises.md I29).
 */
export function freeBuffer({ buffer, length }: Uint8Array): void {
  if (length === buffer.byteLength) (buffer as ArrayBuffer).transfer(0)
}
