import { hostIn, isNamed } from './host'

/** Labels and a top-level domain; the path or bracket behind them is captured. */
const HOST =
  /(?<![\p{L}\p{N}@/\\.:_-])(?:[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_-]{0,61}[\p{L}\p{N}\p{M}_])?[.。．｡]){1,126}(?:\p{L}[\p{L}\p{M}]{1,23}|xn--[a-z0-9-]{2,50})(?=(?::\d{2,5})?([/?#(][^\s<>"'`]*)?)(?!\.?[\p{L}\p{N}_@-])/giu
const IPV4 = /(?<![\w.@/\\:-])(?:\d{1,3}\.){3}\d{1,3}(?=(?::\d{2,5})?(\/[^\s<>"'`]+))/g

/** The prefix length of a network: `/24`. */
const BITS = /^\/\d{1,2}(?![\w/?#.-]*[\w/?#-])/

/** Top-level domains that make a host of a name without scheme and path: files and members do not end so. */
const COMMON =
  /^(?:com|org|net|info|biz|edu|gov|io|dev|app|ai|co|xyz|online|site|shop|store|club|top|live|link|click|cloud|tv|uk|de|fr|es|nl|pl|ru|cn|jp|br|eu|ch|se|dk|fi|pt|gr|cz|ca|au|nz|kr|tr|ua|za|mx|tk|gq|ml|ga|cf|рф|中国|example)$/i
/** Top-level domains that are file extensions too. */
const FILES = /^(?:rs|sh|py|md|pl|zip|so|cc|mk|ps|tf|in|am|ac|mov|java)$/i
/** Usual names of files with such an extension. */
const FILE_NAMES =
  /^(?:_.*|.*_.*|main|lib|mod|index|init|setup|install|uninstall|build|run|test|tests|start|stop|deploy|release|config|configure|makefile|makevars|utils?|helpers?|app|server|client|readme|changelog|license|contributing|security|script|example|entrypoint|bootstrap|manage|types|models?|views?|urls?|admin|cli|core|common|docs?|todo|notes|guide|error|errors|system|archive|backup|conftest|variables|outputs)$/i
/** Products that are named like hosts. */
const NAMES = /^(?:asp\.net|vb\.net|ado\.net|socket\.io|node\.js|next\.js)$/i

/** A host as it stands from `start` to `at`; `host` is the form browsers compare. */
export type Bare = { start: number; at: number; host: string }

/** Hosts without a scheme: below `www`, before a path, or with a common top-level domain. */
export function bareHosts(text: string): Bare[] {
  const found: Bare[] = []
  for (const { 0: host, 1: path = '', index } of text.matchAll(HOST)) {
    const address = hostIn(host)
    if (address && isHost(host, address, path)) found.push({ start: index, at: index + host.length, host: address })
  }
  for (const { 0: host, 1: path, index } of text.matchAll(IPV4)) {
    const address = hostIn(host)
    if (address && !BITS.test(path!)) found.push({ start: index, at: index + host.length, host: address })
  }
  return found
}

function isHost(host: string, address: string, path: string): boolean {
  if (/^www[.。．｡]/i.test(host)) return true
  if (NAMES.test(host)) return false
  const labels = host.split(/[.。．｡]/)
  if (!/^(?:\/.|[?#][^=]*=)/.test(path)) {
    // `name.member(`: a call in code.
    return !path.startsWith('(') && COMMON.test(labels.at(-1)!) && host === host.toLowerCase()
  }
  return isNamed(address) && (!FILES.test(labels.at(-1)!) || !FILE_NAMES.test(labels.at(-2)!))
}
