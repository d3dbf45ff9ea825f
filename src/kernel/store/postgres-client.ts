import { SQL } from 'bun'

/** How long to wait for a server that does not answer, in seconds. */
const CONNECT_S = 5

/** A client with so many connections at most, which are opened as they are needed. */
export const connect = (url: string, max = 1): SQL => new SQL(url, { max, connectionTimeout: CONNECT_S })
