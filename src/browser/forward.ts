/** The socket of a viewer, as the framework gives it. */
export type Socket = {
  sendText(text: string): unknown
  sendBinary(bytes: Uint8Array): unknown
  close(code: number, why: string): void
}

const UNREACHED = 'the live view cannot be reached'
const MAX_WAITING = 50

/**
 * A viewer of a session that another process has: what it says goes there, and what comes back is handed on as it is.
 * Each frame waits for the viewer's word, so that none pile up here either.
 */
export function forward(address: string, id: string, token: string, socket: Socket) {
  const url = new URL(`/embed/browser/${id}/stream`, address)
  url.protocol = url.protocol.replace('http', 'ws')
  const there = new WebSocket(url)
  const waiting: string[] = []
  let isOver = false
  there.binaryType = 'arraybuffer'
  there.onopen = () => {
    // The other one passes it on no further.
    there.send(JSON.stringify({ type: 'hello', token, forwarded: true }))
    for (const text of waiting.splice(0)) there.send(text)
  }
  there.onmessage = ({ data }) =>
    void (typeof data === 'string' ? socket.sendText(data) : socket.sendBinary(new Uint8Array(data as ArrayBuffer)))
  there.onclose = ({ code, reason }) => {
    if (isOver) return
    isOver = true
    // Codes below 1007 are no words of a server.
    socket.close(code < 1007 ? 1013 : code, code < 1007 ? UNREACHED : reason)
  }
  return {
    message(value: unknown): void {
      const text = JSON.stringify(value)
      if (there.readyState === WebSocket.OPEN) there.send(text)
      else if (waiting.length < MAX_WAITING) waiting.push(text)
    },
    left(): void {
      isOver = true
      there.close()
    },
  }
}
