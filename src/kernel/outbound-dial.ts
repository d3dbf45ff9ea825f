import { connect, type Socket } from 'node:net'

const CONNECT_TIMEOUT_MS = 10_000

/** Opens a connection to an IP address that the outbound door has checked. Rejects with the error of the network. */
export function dial(address: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host: address, port })
  const late = setTimeout(() => socket.destroy(new Error('the connection took too long')), CONNECT_TIMEOUT_MS)
  const fail = (error: Error) => {
    clearTimeout(late)
    reject(error)
  }
  socket.once('error', fail)
  socket.once('connect', () => {
    clearTimeout(late)
    socket.off('error', fail)
    resolve(socket)
  })
  return promise
}
