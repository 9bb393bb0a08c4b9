import { splitWords } from '../../base/text.ts';
/**
 * Files that no tool shows if `hopgate.yaml` has no `mask`. Patterns without `/` match at any depth; `!` excepts paths
 * from the patterns before it. Backups of such files are masked with them.
 */
export const DEFAULT_MASKS: readonly string[] = [
  // settings of an application
  ...splitWords(`
    .env .env.* !.env.*{example,sample,template,dist} .envrc .dev.vars .dev.vars.*
    !.dev.vars.*{example,sample,template} {prod,production,staging,secret,secrets,local,app,docker}.env
    .secret .secrets secrets.{yml,yaml,json,toml} !**/config/secrets.yml !**/templates/**/secrets.{yml,yaml}
    local.settings.json wp-config.php
  `),
  // tokens of package managers, registries and clouds
  ...splitWords(`
    .npmrc .netrc _netrc .pypirc .git-credentials .gitcookies .dockercfg **/.docker/config.json **/.gem/credentials
    **/.cargo/credentials **/.cargo/credentials.toml **/.m2/settings*.xml **/.composer/auth.json **/.aws/credentials
    **/.aws/sso **/.azure/*.json **/.config/gcloud .boto .s3cfg rclone.conf .vault-token .vault_pass* .vault-pass*
    .clasprc.json .sentryclirc .databrickscfg **/.codex/auth.json **/.claude/.credentials.json .pgpass .my.cnf
    .mylogin.cnf .htpasswd pgpass.conf terraform.rc .ansible_vault_pass* .smbcredentials .ftpconfig sftp-config.json
    .token .apikey .api_key .*_history credentials.json kaggle.json /auth.json **/.sbt/credentials **/.config/gh
    **/.huggingface **/.dbt/profiles.yml **/.pulumi/credentials.json **/.cloudflared
  `),
  // service accounts
  ...splitWords(`
    *service{-,_,}account*.json *firebase-adminsdk*.json client_secret*.json application_default_credentials.json
    {gcp,gcloud,google,sa}{-,_}{key,credentials}.json
  `),
  // infrastructure
  ...splitWords(`
    *.tfstate *.tfstate.* *.tfvars *.tfvars.json !*{example,sample,template}*.tfvars *.tfrc credentials.tfrc.json
    .terraformrc /kubeconfig kubeconfig.{yaml,yml,conf} *.kubeconfig **/.kube/config
  `),
  // keys
  ...splitWords(`
    *.pem *.key *.p8 *.p12 *.pfx *.pkcs12 *.ppk *.jks *.jceks *.bks *.keystore *.kdb *.kdbx *.keychain *.keychain-db
    *.ovpn {key,keystore,signing}.properties **/.ssh **/.gnupg id_{rsa,dsa,ecdsa,ecdsa_sk,ed25519,ed25519_sk,xmss}
    ssh_host_*_key deploy_{key,rsa,ed25519}
    **/age/keys.txt wallet.dat
  `),
  // certificates that are public, and keys that are published with a package
  ...splitWords(`
    !{cacert,cacerts,ca-bundle,ca-certificates,roots}.pem !**/ssl_certs/**/*.pem
    !**/{node_modules,site-packages}/**/*.{pem,key} **/node_modules/.cache/**/*.{pem,key}
  `),
  // keys and settings that test suites include
  ...splitWords(`
    !**/{testdata,fixtures,__fixtures__}/**/*.{pem,key,p12,pfx,jks,keystore}
    !**/{testdata,fixtures,__fixtures__}/**/{credentials,secrets}.{yml,yaml,json,toml}
    !**/{test,tests,spec}/{certs,keys,ssl,tls,resources}/**/*.{pem,key,p12,jks}
  `),
];

/** Prefixes and suffixes of the names of backups: `.env~`, `.server.pem.swp`, `#id_rsa#`. */
export const BACKUP_NAME_AFFIXES: readonly (readonly [before: string, after: string])[] = [
  ...splitWords('~ .~1~ .bak .backup .bkp .old .orig .save .saved .copy .tmp .rej').map(
    (after) => ['', after] as const,
  ),
  ...splitWords('.swp .swo .swn .un~').flatMap((after) => [['', after] as const, ['.', after] as const]),
  ...([
    ['.', '.kate-swp'],
    ['#', '#'],
    ['.#', ''],
    ['.~', ''],
  ] as const),
];
