//! Kept-alive HTTP/1.1 connections that send prepared requests: what a load generator needs
//! and no more, so that most of the machine is left to the server.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection to a server on this machine.
pub struct Connection {
    stream: BufReader<TcpStream>,
    port: u16,
}

/// What came back.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Connection {
    pub async fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        Self { stream: BufReader::new(stream), port }
    }

    pub async fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, "").await
    }

    /// Posts a form.
    pub async fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Answer {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let form = [("content-type", "application/x-www-form-urlencoded")];
        self.send("POST", path, &[&form, headers].concat(), &body).await
    }

    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let (port, length) = (self.port, body.len());
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-length: {length}\r\n"
        );
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.extend(["\r\n", body]);
        self.stream.write_all(text.as_bytes()).await.expect("a server that listens");
        self.answer().await
    }

    async fn answer(&mut self) -> Answer {
        let status = self.line().await;
        let status = status.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        let mut headers = Vec::new();
        let mut length = 0;
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(": ") else { break };
            let name = name.to_ascii_lowercase();
            if name == "content-length" {
                length = value.parse().expect("a length");
            }
            assert_ne!(name, "transfer-encoding", "only answers with a length can be read");
            headers.push((name, value.to_owned()));
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.expect("a whole body");
        Answer { status, headers, body: String::from_utf8(body).expect("a text") }
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.expect("a line");
        assert!(line.ends_with("\r\n"), "the server hung up");
        line.truncate(line.len() - 2);
        line
    }
}

impl Answer {
    /// The value of a header; there must be one.
    pub fn header(&self, name: &str) -> &str {
        let mut found = self.headers.iter().filter(|(other, _)| other == name);
        let (_, value) =
            found.next().unwrap_or_else(|| panic!("{name}: {} {}", self.status, self.body));
        value
    }

    /// The answer, if it has that status.
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// A member of a JSON body.
    pub fn member(&self, name: &str) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).expect("JSON");
        body[name].as_str().unwrap_or_else(|| panic!("{name}: {}", self.body)).to_owned()
    }
}
