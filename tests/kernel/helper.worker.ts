declare const self: Worker

let orders = 0

/** Answers as it is told to; `count` says how many orders this thread has had. */
self.onmessage = ({ data }: MessageEvent<string>) => {
  orders++
  if (data === 'hang') for (;;) orders++
  if (data === 'break') throw new Error('broken')
  if (data === 'refuse') self.postMessage({ ok: false, problem: 'refused' })
  else self.postMessage({ ok: true, answer: data === 'count' ? orders : data })
}
