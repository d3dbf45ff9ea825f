import { dataOf, html } from '../kernel/html'
import type { AssetSet } from './assets'

/** Who answers, the names of their widgets by id, and the colleagues who could have a chat. */
export type Me = {
  id: string
  name: string
  widgets: Record<string, string>
  people: { id: string; name: string }[]
}

export const INBOX_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; " +
    "frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-frame-options': 'DENY',
}

/** The page of the inbox; its script draws what is in it. */
export const inboxPage = (me: Me, { nameOf }: AssetSet): string =>
  html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<title>Inbox</title>
<link rel="stylesheet" href="/assets/${nameOf.inboxStyle}">
<script type="application/json" id="me">${{ markup: dataOf(me) }}</script>
<script src="/assets/${nameOf.inbox}" data-text="/assets/${nameOf.widgetText}" defer></script>
</head>
<body><div id="inbox"><noscript>The inbox needs JavaScript. On the command line: svc-admin takeovers.</noscript></div></body>
</html>
`.markup
