import { SAMPLES } from './samples'

const OF_SERVER: ReadonlySet<string> = new Set(Object.keys(SAMPLES))

/** Names that callers may not publish: receivers trust that the server itself says these. */
export const isReserved = (type: string): boolean => OF_SERVER.has(type) || type === 'svc' || type.startsWith('svc.')
