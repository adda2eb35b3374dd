// server.mjs PORT TOKENS: oidc-provider in memory with its default settings, and one public client.
// Prints refresh tokens, made through its own models as its authorization code grant makes them.
import Provider from "oidc-provider";

const [port, tokens] = process.argv.slice(2).map(Number);
// Its notices too go where its warnings go: whoever started this waits for the tokens.
console.info = console.error;
const client_id = "bench";
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id,
      token_endpoint_auth_method: "none",
      redirect_uris: ["http://127.0.0.1:53000/callback"],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
});
const client = await provider.Client.find(client_id);
const scope = "openid offline_access";
const made = [];
for (let number = 0; number < tokens; number += 1) {
  const accountId = `user-${number}`;
  const grant = new provider.Grant({ accountId, clientId: client_id });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const token = new provider.RefreshToken({ accountId, client, grantId, scope, gty: "authorization_code", rotations: 0 });
  made.push(await token.save());
}
provider.listen(port, "127.0.0.1", () => console.log(JSON.stringify(made)));
