/** Keys of one maker, known by how they begin. */
export type Family = {
  /** Prefixes, as literal text. */
  begins: readonly string[]
  /** Pattern of what follows. It has a least length, since a prefix alone is only talk about keys. */
  rest: string
}

const family = (begins: string, rest: string): Family => ({ begins: begins.split(' '), rest })
const WORD = '[A-Za-z0-9]'
const URL_SAFE = '[A-Za-z0-9_-]'
const HEX = '[0-9a-f]'

export const FAMILIES: readonly Family[] = [
  family('AKIA ASIA ABIA ACCA', '[A-Z2-7]{16}(?![A-Za-z0-9])'),
  family('ghp_ gho_ ghu_ ghs_ ghr_', `${WORD}{30,255}`),
  family('github_pat_', '[A-Za-z0-9_]{40,255}'),
  family('glpat- gldt- glrt- glcbt- glptt- glft- glsoat-', `${URL_SAFE}{20,64}`),
  family('xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe.xoxp-', '[A-Za-z0-9-]{20,250}'),
  family('xapp-', '\\d-[A-Z0-9]+-\\d+-[a-z0-9]{32,}'),
  family('hooks.slack.com/services/', '[A-Za-z0-9/]{30,80}'),
  family('discord.com/api/webhooks/ discordapp.com/api/webhooks/', `\\d{15,20}/${URL_SAFE}{40,90}`),
  family('sk_live_ sk_test_ rk_live_ rk_test_', `${WORD}{16,250}`),
  family('whsec_', '[A-Za-z0-9+/]{20,88}={0,2}'),
  family('sk-proj- sk-svcacct- sk-admin- sk-ant- sk-or-v1- sk-lf-', `${URL_SAFE}{24,250}`),
  family('sk-', `${WORD}{20}T3BlbkFJ${WORD}{20}|${WORD}{32,64}(?![A-Za-z0-9-])`),
  family('AIza', `${URL_SAFE}{35}`),
  family('GOCSPX-', `${URL_SAFE}{20,40}`),
  family('ya29.', `${URL_SAFE}{30,300}`),
  family('SK AC', `${HEX}{32}(?![A-Za-z0-9])`),
  family('SG.', `${URL_SAFE}{16,32}\\.${URL_SAFE}{16,64}`),
  family('key-', `${HEX}{32}(?![A-Za-z0-9])`),
  family('npm_', `${WORD}{36}`),
  family('pypi-', `AgE${URL_SAFE}{50,250}`),
  family('dckr_pat_ dckr_oat_', `${URL_SAFE}{20,60}`),
  family('hf_', '[A-Za-z]{12}[A-Za-z0-9]{18,30}|[A-Za-z0-9]{34}'),
  family('dop_v1_ doo_v1_ dor_v1_', `${HEX}{64}`),
  family('shpat_ shpss_ shpca_ shppa_', '[A-Fa-f0-9]{32}'),
  family('sq0atp- sq0csp- EAAA', `${URL_SAFE}{22,64}`),
  family('hvs. hvb. hvr.', `${URL_SAFE}{24,200}`),
  family('dapi', `${HEX}{32}`),
  family('lin_api_ lin_oauth_', `${WORD}{30,64}`),
  family('ntn_', `${WORD}{40,50}`),
  family('secret_', `${WORD}{43}(?![A-Za-z0-9_])`),
  family('figd_ figu_ fio-u-', `${URL_SAFE}{30,80}`),
  family('PMAK-', `${HEX}{24}-${HEX}{34}`),
  family('glsa_', `${WORD}{32}_[A-Fa-f0-9]{8}`),
  family('glc_', '[A-Za-z0-9+/]{32,400}={0,2}'),
  family('NRAK- NRII- NRJS-', '[A-Z0-9a-f]{19,32}'),
  family('sntrys_ sntryu_', '[A-Za-z0-9+/=_-]{40,300}'),
  family('dp.pt. dp.st. dp.ct. dp.scim. dp.audit.', `[A-Za-z0-9.]{40,60}`),
  family('HRKU-', `${URL_SAFE}{36,64}`),
  family('pat', `${WORD}{14}\\.${HEX}{64}`),
  family('ATATT3 ATCTT3', '[A-Za-z0-9_=-]{60,250}'),
  family('ATBB', `${WORD}{28,36}(?![A-Za-z0-9])`),
  family('pul-', `${HEX}{40}`),
  family('sbp_ sgp_ rubygems_ shippo_live_ shippo_test_', `${HEX}{40,64}`),
  family('svc_sk_live_ svc_sk_test_ svc_ds_ svc_op_ svc_wt_ svc_wp_ svc_iv_', `${WORD}{16,80}`),
  family('AGE-SECRET-KEY-1', '[A-Z0-9]{58}'),
  family('sk.eyJ pk.eyJ', `${URL_SAFE}{40,200}\\.${URL_SAFE}{20,40}`),
  family('pscale_tkn_ pscale_pw_ pscale_oauth_', '[A-Za-z0-9_.=-]{32,64}'),
  family('r8_', `${WORD}{37}(?![A-Za-z0-9])`),
  family('gsk_', `${WORD}{48,56}(?![A-Za-z0-9])`),
  family('pplx-', `${WORD}{40,56}`),
  family('xai-', `${WORD}{70,90}`),
  family('tskey-auth- tskey-api- tskey-client-', '[A-Za-z0-9-]{20,80}'),
  family('LTAI', `${WORD}{16,20}(?![A-Za-z0-9])`),
  family('AKID', `${WORD}{32}(?![A-Za-z0-9])`),
  family('tfp_', `${URL_SAFE}{40,70}`),
  family('EZAK EZTK', `${WORD}{54}`),
  family('access-production- access-development- access-sandbox-', `${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}`),
  family('CFPAT-', `${URL_SAFE}{43}`),
  family('rdme_', '[a-z0-9]{70}'),
  family('dt0c01.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}'),
  family('FLWSECK- FLWSECK_TEST-', `${WORD}{12,40}`),
  family('PRIVATE-TOKEN:', ` ?${URL_SAFE}{20,64}`),
  family('duffel_live_ duffel_test_', `${URL_SAFE}{43}`),
  family('CLOJARS_', '[a-z0-9]{60}'),
  family('pnu_ waka_ ntl_', `${URL_SAFE}{36,60}`),
]

/** Keys known by their middle. */
export const SHAPES: readonly string[] = [
  // A bot of Telegram: its id, then 35 characters.
  '\\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])',
  // A bot of Discord: id, time and signature.
  '[MNO][A-Za-z0-9]{23,25}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])',
  // Terraform Cloud, Azure, Firebase messaging.
  '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60,70}',
  '[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}',
  'AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{100,180}',
]
