import { dlopen, type Pointer, toArrayBuffer } from 'bun:ffi'
import { createAddressList } from '../kernel/outbound'

/** The sockets that this process has accepted on one port, as reported by the operating system. */
export type SocketTable = {
  /** Maximum number of descriptors this process may open. */
  readonly limit: number
  /** Calls `visit` for every accepted connection with the address and port of its peer. */
  each(visit: (connection: Accepted) => void): void
  /** Ends a connection if it still exists. The server then closes it as if its peer had left. */
  end(connection: Accepted): void
}

export type Accepted = {
  readonly descriptor: number
  readonly address: string
  /** The address or, for IPv6, the network of one subscriber. */
  readonly network: string
  readonly port: number
}

const LIBRARIES = ['libc.so.6', 'libc.so', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]
const IS_MAC = process.platform === 'darwin'
/** `RLIMIT_NOFILE`. */
const DESCRIPTORS = IS_MAC ? 8 : 7
const BOTH_WAYS = 2
/** Size of `struct sockaddr_in6`, the longest address read here. */
const ADDRESS_BYTES = 28
const LENGTH_AT = 32
/** The lowest free descriptor is assigned first. After a gap of this size there are no more connections. */
const GAP = 1_024
/** An IPv4 address as an IPv6 listener sees it. */
const MAPPED = '0:0:0:0:0:ffff:'

/**
 * The table of the connections to `port`. Null if the C library cannot be called. Bun does not report connections
 * before their first request, so this asks the operating system.
 */
export function openSocketTable(port: number): SocketTable | null {
  const c = openLibrary()
  const memory = c && (c.malloc(64) as Pointer | null)
  if (!c || !memory) return null
  const view = new DataView(toArrayBuffer(memory, 0, 64))
  const length = (Number(memory) + LENGTH_AT) as Pointer
  const asks = (ask: typeof c.getsockname, descriptor: number) => {
    view.setUint32(LENGTH_AT, ADDRESS_BYTES, true)
    return ask(descriptor, memory, length) === 0
  }
  c.getrlimit(DESCRIPTORS, memory)
  let highest = 0
  const limit = Number(view.getBigUint64(0, true))
  return {
    limit,
    each(visit) {
      let last = 3
      for (let descriptor = 3; descriptor < Math.min(limit, Math.max(highest, last + GAP)); descriptor++) {
        if (!asks(c.getsockname, descriptor)) continue
        last = descriptor
        // A unix socket has no port. Its path occupies those bytes.
        if (!isInternet(view) || view.getUint16(2) !== port || !asks(c.getpeername, descriptor)) continue
        visit({ descriptor, port: view.getUint16(2), ...peerIn(view) })
      }
      highest = last + 1
    },
    end({ descriptor, address, port: theirs }) {
      // The descriptor may belong to another connection by now.
      if (!asks(c.getsockname, descriptor) || view.getUint16(2) !== port) return
      if (!asks(c.getpeername, descriptor) || view.getUint16(2) !== theirs) return
      if (isInternet(view) && peerIn(view).address === address) c.shutdown(descriptor, BOTH_WAYS)
    },
  }
}

function openLibrary() {
  const names = IS_MAC ? ['libSystem.B.dylib'] : LIBRARIES
  for (const name of names) {
    try {
      return dlopen(name, {
        getsockname: { args: ['int', 'ptr', 'ptr'], returns: 'int' },
        getpeername: { args: ['int', 'ptr', 'ptr'], returns: 'int' },
        shutdown: { args: ['int', 'int'], returns: 'int' },
        getrlimit: { args: ['int', 'ptr'], returns: 'int' },
        malloc: { args: ['usize'], returns: 'ptr' },
      }).symbols
    } catch {
      // This library does not exist on this system.
    }
  }
  return null
}

const IPV4 = 2
const IPV6 = IS_MAC ? 30 : 10
/** On a Mac the family is the second byte, elsewhere the first two. */
const familyIn = (view: DataView): number => (IS_MAC ? view.getUint8(1) : view.getUint16(0, true))
const isInternet = (view: DataView): boolean => familyIn(view) === IPV4 || familyIn(view) === IPV6

function peerIn(view: DataView): Pick<Accepted, 'address' | 'network'> {
  const isIpv4 = familyIn(view) === IPV4
  const groups = isIpv4 ? [] : Array.from({ length: 8 }, (_, at) => view.getUint16(8 + at * 2).toString(16))
  const text = groups.join(':')
  if (isIpv4 || text.startsWith(MAPPED)) {
    const from = isIpv4 ? 4 : 20
    const address = [0, 1, 2, 3].map((at) => view.getUint8(from + at)).join('.')
    return { address, network: address }
  }
  return { address: readAddress(text) ?? text, network: groups.slice(0, 4).join(':') }
}

const { read: readAddress } = createAddressList([])
