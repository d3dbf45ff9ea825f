import type { TextSpan } from '../span'
import { bareHosts } from './bare'
import { isNamed, isNumbered } from './host'
import { type Address, createReader } from './reader'

/*
 * By hand, because a linkifier finds what people write and not what browsers follow: on tests/guardrails/urls.test.ts
 * linkify-it passes 101 of 165 (escapes, `//host`, numeric hosts, user names before an @), and for hosts without a scheme
 * alone 155, taking `main.rs/x` and `list.sort/list.filter` for hosts.
 */

/** A URL in a text, and the host a browser would go to, in the form browsers compare; empty when it cannot be known. */
export type FoundUrl = TextSpan & { host: string }

/** After these, browsers accept any number of slashes of either kind, also none. */
const WEB = /(?<![a-z0-9])(?:https?|wss?|ftp|file):[/\\]*/giu
const OTHER_SCHEME = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,31}:\/\/+/giu
/** `//host`, which takes the scheme of the page. After a colon only in the target of a Markdown reference. */
const SCHEME_RELATIVE = /(?<![\w/\\]|(?<!\]):)[/\\]{2,}(?=[^\s/\\<>"'`])/gu
const ENCODED = /(?:(?<![a-z0-9])(?:https?|wss?|ftp)(?:%(?:25){0,3}3a|:)|(?<![\w%]))(?:%(?:25){0,3}(?:2f|5c)){2,}/giu
/** URLs that hold a page or a program, which may fetch from anywhere. */
const ACTIVE_CONTENT =
  /(?<![\w:])(?:data:(?:text\/(?:html|xml|javascript)|image\/svg\+xml|application\/(?:xhtml\+xml|xml|(?:x-)?javascript))[;,]|(?:java|vb)script:(?=\S))/giu

/** Places where a renderer takes whatever follows for a URL. */
const BEFORE_TARGET =
  /(?:\]\(|\]:|\burl\(|\b(?:href|src|srcset|poster|action|formaction|data|background|ping|cite|manifest)\s{0,4}=)\s{0,4}["'<]?$/iu
const TARGET_REACH = 24

/**
 * Every URL in a text that a browser or a Markdown renderer would fetch or link: with any scheme, scheme-relative
 * (`//host`), inside another's query, percent-encoded, or without a scheme where `www`, a path or a common ending tells
 * a host from a word; `data:` where it holds a page or a program. Not found: single labels and single numbers without
 * a scheme, names that look like files (`main.rs/x`), mail addresses, and hosts that code puts together. Linear.
 */
export function findUrls(text: string): FoundUrl[] {
  const found: FoundUrl[] = []
  const read = createReader(text)
  const isTarget = (at: number) => BEFORE_TARGET.test(text.slice(Math.max(0, at - TARGET_REACH), at))
  const add = (start: number, { end, host }: Address) => {
    if (host !== null) found.push({ start, end, host })
  }
  for (const { 0: scheme, index } of text.matchAll(WEB)) {
    const address = read(index, index + scheme.length)
    if (/^file/i.test(scheme)) add(index, asFile(scheme, address))
    else if (/[/\\]$/.test(scheme) || isTarget(index) || tellsHost(address)) add(index, address)
  }
  for (const { 0: scheme, index } of text.matchAll(OTHER_SCHEME)) {
    if (!IS_WEB.test(scheme)) add(index, read(index, index + scheme.length))
  }
  for (const { 0: slashes, index } of text.matchAll(SCHEME_RELATIVE)) {
    const address = read(index, index + slashes.length)
    if (tellsHost(address) || isTarget(index)) add(index, address)
  }
  for (const { 0: before, index } of text.includes('%') ? text.matchAll(ENCODED) : []) {
    const address = read.encoded(index, index + before.length)
    if (!before.startsWith('%') || tellsHost(address)) add(index, address)
  }
  for (const { 0: scheme, index } of text.matchAll(ACTIVE_CONTENT)) {
    if (/^data/i.test(scheme) || isTarget(index)) add(index, { end: read.shown(index), host: '', authority: '' })
  }
  for (const { start, at, host } of bareHosts(text)) add(start, { end: read.shown(at), host, authority: host })
  return found
}

const IS_WEB = /^(?:https?|wss?|ftp|file):/i

/** `file:` names a host after exactly two slashes. With fewer it is a path, with more it is on this machine. */
function asFile(scheme: string, address: Address): Address {
  const slashes = scheme.length - 'file:'.length
  if (slashes < 2) return { ...address, host: null }
  return slashes === 2 ? address : { ...address, host: '' }
}

/** Whether it can only be a host: `//1` is a note, `http:80` a port. */
const tellsHost = ({ host, authority }: Address): boolean =>
  !!host && (isNamed(host) || (isNumbered(host) && /^\[|(?:\.\d+){3}(?::\d+)?$/.test(authority)))
