/** Secrets that are known by their looks, wherever they stand. */
export const secretShapes: readonly RegExp[] = [
  // GitHub and GitLab
  /gh[pousr]_[A-Za-z0-9]{20,}/g,
  /github_pat_\w{20,}/g,
  /gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\w-]{16,}/g,
  /GR1348941[\w-]{16,}/g,
  // Clouds
  /(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}/g,
  /AIza[\w-]{35}/g,
  /ya29\.[\w-]{16,}/g,
  /GOCSPX-[\w-]{16,}/g,
  /do[opr]_v1_[a-f0-9]{40,}/g,
  /dapi[0-9a-f]{32}/g,
  /hv[sbr]\.[\w-]{20,}/g,
  // Registries
  /npm_[A-Za-z0-9]{30,}/g,
  /pypi-[\w-]{16,}/g,
  /dckr_pat_[\w-]{20,}/g,
  // Services
  /xox[abceoprs]-[\w-]{8,}/g,
  /xapp-[\w-]{8,}/g,
  /(?<=hooks\.slack\.com\/services\/)[\w/]{16,}/g,
  /(?<![A-Za-z0-9])(?:sk|rk|pk)[-_][\w-]{16,}/g,
  /SG\.[\w-]{16,64}\.[\w-]{16,}/g,
  /hf_[A-Za-z0-9]{20,}/g,
  /lin_api_[A-Za-z0-9]{20,}/g,
  /(?<!\d)\d{8,10}:AA[\w-]{33}/g,
  // JSON web tokens
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}/g,
  // Private keys; one that is cut off is one, too.
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[^]*$)/g,
  /AGE-SECRET-KEY-1[0-9A-Z]{40,}/g,
];
