import { SQL } from 'bun'

/** How long to wait for a server that does not answer, in seconds. */
const CONNECT_S = 5

type Options = {
  /** By which the server knows the connection: `application_name`. */
  name?: string
  /** How long it may take to open, in seconds. */
  connectS?: number
}

/** A client with one connection, which is opened with the first use. */
export const connect = (url: string, { name, connectS = CONNECT_S }: Options = {}): SQL =>
  new SQL(url, { max: 1, connectionTimeout: connectS, ...(name && { connection: { application_name: name } }) })
